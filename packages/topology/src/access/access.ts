import { escapeRegex } from "../entities";
import { DelayTopologyError } from "../errors";
import { checkEntityName } from "../names";
import type { DelayNetwork } from "../network/delayNetwork";
import { intervalName } from "../retry/retryIntervals";
import { RetryDescriptor, planRetry } from "../retry/retryDescriptor";

/** What a service does on the broker. */
export interface AccessOptions {
  /** Queues that it consumes, its error queues too if it reads them. */
  consumes?: string[];
  /** The network that it publishes delayed messages into. */
  network?: DelayNetwork;
  /** Endpoints that it may send delayed messages to, beside its own queues. Default: any of the network. */
  destinations?: string[];
  /** What its failed messages come back by; hold queues need the default exchange and are refused. */
  retries?: RetryDescriptor[];
  /** Further exchanges that it publishes to. */
  publishes?: string[];
  /** Its error queue, where that is behind an exchange of the same name; see `planErrorQueue`. */
  errorQueue?: string;
}

/** Permissions in the broker's own words: regular expressions over names. */
export interface AccessPlan {
  configure: string;
  write: string;
  read: string;
  /** Which routing keys it may publish with, at topic exchanges; others are not limited. */
  topics: { exchange: string; write: string; read: string }[];
}

/** What matches no name at all. */
const NOTHING = "^$";

/**
 * Plans the least permissions for what a service does: it declares nothing, reads its own queues alone, and publishes into
 * the network's entry exchanges and its own retries. The default exchange reaches every queue, so it is never among them.
 * @throws DelayTopologyError for a name that is none, or retries that can't do without the default exchange
 */
export function planAccess(options: AccessOptions): AccessPlan {
  const { consumes = [], network, destinations, retries = [], publishes = [], errorQueue } = options;
  consumes.forEach((queue, index) => checkEntityName(`consumes[${index}]`, queue));
  publishes.forEach((exchange, index) => checkEntityName(`publishes[${index}]`, exchange));
  const write = [...(network?.entryExchanges ?? []), ...retries.flatMap(writtenTo), ...publishes];
  if (errorQueue !== undefined) write.push(checkEntityName("errorQueue", errorQueue));
  return {
    configure: NOTHING,
    write: oneOfNames(write),
    read: oneOfNames(consumes),
    topics:
      network === undefined || destinations === undefined ? [] : topicsOf(network, [...consumes, ...destinations]),
  };
}

/** The exchanges by which failed messages leave, for the way back and for good. */
function writtenTo(descriptor: RetryDescriptor): string[] {
  switch (descriptor.kind) {
    case "retry-intervals":
      return descriptor.intervalsMs.map((intervalMs) => intervalName(descriptor, intervalMs));
    case "work-retry":
      return planRetry(descriptor)
        .exchanges.map(({ name }) => name)
        .filter((name) => name !== descriptor.name);
    case "delayed-retry":
      return [];
    case "hold-queues":
      throw new DelayTopologyError(
        "retries",
        descriptor.kind,
        "hold queues are published to by the default exchange, which reaches every queue; take another mechanism",
      );
  }
}

function topicsOf({ entryExchanges, levels }: DelayNetwork, destinations: string[]): AccessPlan["topics"] {
  const names = [...new Set(destinations)].map((name, index) =>
    escapeRegex(checkEntityName(`destinations[${index}]`, name)),
  );
  const write = names.length === 0 ? NOTHING : `^(?:[0-9a-f]\\.){${levels}}(?:${names.join("|")})$`;
  return entryExchanges.map((exchange) => ({ exchange, write, read: NOTHING }));
}

/** A regular expression that matches these names and no others. */
export function oneOfNames(names: string[]): string {
  return names.length === 0 ? NOTHING : `^(?:${[...new Set(names)].map(escapeRegex).join("|")})$`;
}
