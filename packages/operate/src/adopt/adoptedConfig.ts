import type { DelayNetworkOptions, RetryIntervalsOptions, WorkRetryOptions } from "@rabbitmq-delay/topology";
import { EndpointConfig, boundType } from "@rabbitmq-delay/topology/stack";
import type { BoundNetwork, FoundEndpoint } from "./foundEndpoints";
import type { FoundRetries } from "./foundRetries";
import { AdoptionRemark, Unplaced, leftOut } from "./remark";

/** What a stack takes over from the broker. */
type Adopted<T> = T & { adopt: true };

/** The config of a stack, as far as a broker tells it; docs/config.md describes each key. */
export interface AdoptedConfig {
  broker?: { vhost: string };
  network?: Adopted<DelayNetworkOptions>;
  networks?: Record<string, Adopted<DelayNetworkOptions>>;
  current?: string;
  retryIntervals?: RetryIntervalsOptions;
  workQueues?: Adopted<WorkRetryOptions>[];
  endpoints?: Adopted<EndpointConfig>[];
  /** Error and audit queues of all services. */
  errorQueues?: string[];
}

/** Puts together what was found, and says at each part what there is to say of it. */
export function configOf(
  vhost: string,
  networks: readonly BoundNetwork[],
  retries: FoundRetries,
  errorQueues: readonly string[] = [],
): { config: AdoptedConfig; remarks: AdoptionRemark[] } {
  const names = namesOf(networks);
  const isSingle = networks.length === 1;
  const placed = networks.flatMap(({ remarks }, index) =>
    at(isSingle ? ["network"] : ["networks", names[index] as string], remarks),
  );
  const { endpoints, remarks } = joinEndpoints(networks, names, new Set(retries.retried));
  const adopted = networks.map(({ options }) => ({ ...options, adopt: true as const }));
  const workQueues = retries.workQueues.map((options) => ({ ...options, adopt: true as const }));
  const config: AdoptedConfig = {
    ...(vhost === "/" ? {} : { broker: { vhost } }),
    ...(isSingle ? { network: adopted[0] } : {}),
    ...(networks.length > 1
      ? { networks: Object.fromEntries(adopted.map((options, index) => [names[index], options])), current: names[0] }
      : {}),
    ...(retries.intervals === undefined ? {} : { retryIntervals: retries.intervals.options }),
    ...(workQueues.length === 0 ? {} : { workQueues }),
    ...(endpoints.length === 0 ? {} : { endpoints }),
    ...(errorQueues.length === 0 ? {} : { errorQueues: [...errorQueues] }),
  };
  return { config, remarks: [...placed, ...remarks] };
}

/** Names of networks in the config, which stand on no broker: what tells them apart, in words that a config takes. */
function namesOf(networks: readonly BoundNetwork[]): string[] {
  const taken = new Set<string>();
  return networks.map(({ options: { preset, prefix } }) => {
    const wanted = preset === "custom" || prefix !== undefined ? (prefix as string) : preset;
    const start = /^[A-Za-z][A-Za-z0-9._-]{0,90}$/.test(wanted) ? wanted : preset;
    let name = start;
    for (let count = 2; taken.has(name); count++) name = `${start}-${count}`;
    taken.add(name);
    return name;
  });
}

/** One endpoint for each name, with the networks that it joins: a config binds it to all of them in the same way. */
function joinEndpoints(
  networks: readonly BoundNetwork[],
  names: readonly string[],
  retried: ReadonlySet<string>,
): { endpoints: Adopted<EndpointConfig>[]; remarks: AdoptionRemark[] } {
  const joined = new Map<string, { endpoint: FoundEndpoint; networks: string[]; remarks: Unplaced[] }>();
  networks.forEach(({ endpoints }, index) => {
    const network = names[index] as string;
    for (const endpoint of endpoints) {
      const known = joined.get(endpoint.name);
      if (known === undefined) {
        joined.set(endpoint.name, { endpoint, networks: [network], remarks: [...endpoint.remarks] });
      } else if (isBoundAlike(known.endpoint, endpoint)) {
        known.networks.push(network);
        if (known.endpoint.client === undefined) known.endpoint = endpoint;
        known.remarks.push(...endpoint.remarks);
      } else {
        const message = `it is bound to network ${network} in another way (as ${describe(endpoint)}), and a config binds one endpoint in one way; bind it alike in both networks first, or leave that one as it is`;
        known.remarks.push(leftOut(message));
      }
    }
  });
  const all = [...joined.values()];
  const endpoints = all.map(({ endpoint, networks: joins }) => ({
    ...withoutDefaults(endpoint),
    ...(isRetried(endpoint, retried) ? { retries: true } : {}),
    ...(joins.length < networks.length ? { networks: joins } : {}),
    adopt: true as const,
  }));
  return { endpoints, remarks: all.flatMap(({ remarks }, index) => at(["endpoints", index], remarks)) };
}

function isBoundAlike(one: FoundEndpoint, other: FoundEndpoint): boolean {
  return one.type === other.type && JSON.stringify(one.patterns) === JSON.stringify(other.patterns);
}

/** A queue alone gets messages back; a client's endpoint has one. */
function isRetried({ name, type, client }: FoundEndpoint, retried: ReadonlySet<string>): boolean {
  return retried.has(name) && (type === "queue" || client !== undefined);
}

function describe({ type, patterns }: FoundEndpoint): string {
  return patterns === undefined ? `${type} by its name` : `${type} with ${patterns.join(", ")}`;
}

/** A client decides what of its endpoint is bound. */
function withoutDefaults({
  name,
  type,
  patterns,
  client,
  routingTopology,
  queueType,
  queuePolicy,
}: FoundEndpoint): EndpointConfig {
  return {
    name,
    ...(type === boundType({ name, client, routingTopology }) ? {} : { type }),
    ...(patterns === undefined ? {} : { patterns }),
    ...(client === undefined ? {} : { client }),
    ...(routingTopology === undefined ? {} : { routingTopology }),
    ...(queueType === undefined ? {} : { queueType }),
    ...(queuePolicy === undefined ? {} : { queuePolicy }),
  };
}

function at(place: AdoptionRemark["place"], remarks: readonly Unplaced[]): AdoptionRemark[] {
  return remarks.map((remark) => ({ ...remark, place }));
}
