import { isAtLeast } from "@rabbitmq-delay/topology";

/** A fault of the broker itself, mended in later releases. */
export interface BrokerFault {
  /** The name by which `allow` or `--allow` silences it. */
  id: BrokerFaultId;
  /** What it may do to a network, as a sentence without its end. */
  effect: string;
  /** The releases that mend it, oldest first; a broker of an older series is mended by none of its own. */
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
 * Faults of brokers that are known to touch delay networks; which release brought them in is not known, so older ones count as
 * having them. Sources: rabbitmq-server's issues 16203 and 16652, release notes of 4.3.0; the last was measured on 3.10.8.
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

/** The faults that a broker of this version may have; a version that can't be read has all. */
export function faultsOf(version: string, allowed: readonly string[] = []): BrokerFault[] {
  return brokerFaults.filter(({ id, mendedIn }) => !allowed.includes(id) && !isMended(version, mendedIn));
}

/** One line on a fault, for a warning. */
export function describeFault(version: string, { id, effect, mendedIn }: BrokerFault): string {
  const releases = mendedIn.map((release) => `RabbitMQ ${release}`).join(" and ");
  return `the broker is RabbitMQ ${version}: ${effect}; ${releases} ${mendedIn.length === 1 ? "mends" : "mend"} it, and allow: [${id}] silences this`;
}

/** Mended in its own series from that release on, and in each series after the newest that is named. */
function isMended(version: string, mendedIn: readonly string[]): boolean {
  return mendedIn.some((release, index) => {
    const isNewest = index === mendedIn.length - 1;
    return (isNewest || seriesOf(version) === seriesOf(release)) && isAtLeast(version, release);
  });
}

function seriesOf(version: string): string | undefined {
  return /^\d+\.\d+/.exec(version)?.[0];
}
