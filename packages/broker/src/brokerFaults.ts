import { isAtLeast } from "@rabbitmq-delay/topology/stack";

/** A fault of the broker itself, fixed in later releases. */
export interface BrokerFault {
  /** The name by which `allow` or `--allow` silences it. */
  id: BrokerFaultId;
  /** What it may do to a network, as a sentence without its end. */
  effect: string;
  /** The first release that has the fault, e.g. `4.3.0`. @default every release before the fix counts as affected */
  since?: string;
  /** The releases that fix it, oldest first; an older series has no release that fixes it. */
  mendedIn: readonly string[];
}

/** Names of the faults. */
export const brokerFaultIds = [
  "dead-letter-wrong-member",
  "dead-letter-stuck",
  "purge-leaves-dead-letters",
  "death-header-loop",
  "dead-letter-to-itself",
  "dead-letter-crash",
  "empty-key-elsewhere",
  "uncounted-after-upgrade",
  "newer-release",
] as const;
export type BrokerFaultId = (typeof brokerFaultIds)[number];

/**
 * Faults of brokers that are known to affect queues with delays. Without `since`, the release that introduced a fault is not known.
 * Sources: rabbitmq-server's issues 16203, 16652, 8799, 12933, 16271 and 16974, and the release notes of 4.3.0. `death-header-loop` was
 * measured on 3.10.8. The last entry stands for the faults of releases that came after this table.
 */
export const brokerFaults: readonly BrokerFault[] = [
  {
    id: "dead-letter-wrong-member",
    effect:
      "at-least-once dead-lettering can send its commands to the wrong member of a cluster, so that messages stay in a level " +
      "after their time",
    mendedIn: ["4.2.7", "4.3.1"],
  },
  {
    id: "dead-letter-stuck",
    effect:
      "at-least-once dead-lettering can stop for good after members of a queue were added or removed, so that a level delivers " +
      "nothing more",
    mendedIn: ["4.3.3"],
  },
  {
    id: "purge-leaves-dead-letters",
    effect: "a purge leaves the messages behind whose time is up, and they are delivered after it",
    mendedIn: ["4.3.0"],
  },
  {
    id: "death-header-loop",
    effect:
      "a message that is published again with the x-death header that it came with is taken for a loop, stays in its level, and " +
      "32 of them stop the level for all",
    mendedIn: ["4.0.0"],
  },
  {
    id: "dead-letter-to-itself",
    effect:
      "a quorum queue that dead-letters at least once, and whose dead letters come back to it, never frees the space of these " +
      "messages",
    mendedIn: ["3.11.20", "3.12.2"],
  },
  {
    id: "dead-letter-crash",
    effect:
      "a message that was published again with its x-death header on RabbitMQ 3.13 crashes the queue from which it is " +
      "dead-lettered after the upgrade",
    since: "4.0.0",
    mendedIn: ["4.0.5"],
  },
  {
    id: "empty-key-elsewhere",
    effect:
      "a queue that is bound to a topic exchange with an empty key also gets the messages with an empty key of all other topic " +
      "exchanges",
    since: "4.3.0",
    mendedIn: ["4.3.1"],
  },
  {
    id: "uncounted-after-upgrade",
    effect:
      "in a cluster that was upgraded from 3.13 to 4.2 and then to 4.3, quorum queues can stop reporting their counts and taking " +
      "snapshots after a node restarts",
    since: "4.3.0",
    mendedIn: ["4.3.4"],
  },
  {
    id: "newer-release",
    effect: "faults are known here of releases up to 4.3 alone; read the release notes of this one",
    since: "4.4.0",
    mendedIn: [],
  },
];

/** The faults that a broker of this version may have; all of them for a version that can't be read. */
export function faultsOf(version: string, allowed: readonly string[] = []): BrokerFault[] {
  return brokerFaults.filter((fault) => !allowed.includes(fault.id) && isAffected(version, fault));
}

/** One line on a fault, for a warning. */
export function describeFault(version: string, { id, effect, mendedIn }: BrokerFault): string {
  const releases = mendedIn.map((release) => `RabbitMQ ${release}`).join(" and ");
  const mended = mendedIn.length === 0 ? "" : `; ${releases} ${mendedIn.length === 1 ? "mends" : "mend"} it`;
  return `the broker is RabbitMQ ${version}: ${effect}${mended}, and allow: [${id}] silences this`;
}

/** Whether a broker of this version may have a fault. */
function isAffected(version: string, { since, mendedIn }: BrokerFault): boolean {
  if (seriesOf(version) === undefined) return true;
  return (since === undefined || isAtLeast(version, since)) && !isMended(version, mendedIn);
}

/** A fault is fixed in a series from the named release on, and in every series after the newest that is named. */
function isMended(version: string, mendedIn: readonly string[]): boolean {
  return mendedIn.some((release, index) => {
    const isNewest = index === mendedIn.length - 1;
    return (isNewest || seriesOf(version) === seriesOf(release)) && isAtLeast(version, release);
  });
}

function seriesOf(version: string): string | undefined {
  return /^\d+\.\d+/.exec(version)?.[0];
}
