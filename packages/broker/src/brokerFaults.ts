import { isAtLeast } from "@rabbitmq-delay/topology/stack";

/** A fault of the broker itself, fixed in later releases. */
export interface BrokerFault {
  /** The name by which `allow` or `--allow` silences it. */
  id: BrokerFaultId;
  /** What it may do to a network, as a sentence without its end. */
  effect: string;
  /** The releases that fix it, oldest first; an older series has no release that fixes it. */
  mendedIn: readonly string[];
}

/** Names of the faults. */
export const brokerFaultIds = [
  "dead-letter-wrong-member",
  "dead-letter-stuck",
  "purge-leaves-dead-letters",
  "death-header-loop",
] as const;
export type BrokerFaultId = (typeof brokerFaultIds)[number];

/**
 * Faults of brokers that are known to affect delay networks. Which release introduced them is not known, so older ones count as affected.
 * Sources: rabbitmq-server's issues 16203 and 16652, release notes of 4.3.0; the last was measured on 3.10.8.
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
];

/** The faults that a broker of this version may have; all of them for a version that can't be read. */
export function faultsOf(version: string, allowed: readonly string[] = []): BrokerFault[] {
  return brokerFaults.filter(({ id, mendedIn }) => !allowed.includes(id) && !isMended(version, mendedIn));
}

/** One line on a fault, for a warning. */
export function describeFault(version: string, { id, effect, mendedIn }: BrokerFault): string {
  const releases = mendedIn.map((release) => `RabbitMQ ${release}`).join(" and ");
  return `the broker is RabbitMQ ${version}: ${effect}; ${releases} ${mendedIn.length === 1 ? "mends" : "mend"} it, and allow: [${id}] silences this`;
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
