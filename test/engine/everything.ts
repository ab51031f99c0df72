import { join } from "node:path";
import type { StackConfig } from "../support/stack";

/** Which of the brokers it is. */
interface BrokerKind {
  isNewest: boolean;
}

/** A stack that declares all that an earlier version could, and what that version left behind. */
export interface RecordedStack {
  /** Start of the fixture's name. */
  name: string;
  /** The program's folder in a checkout. */
  programOf: (checkout: string) => string;
  /** Whether the program is a test's own, which an earlier version does not have. */
  isOwnProgram: boolean;
  configOf: (vhost: string, kind: BrokerKind) => StackConfig;
}

const PASSWORD = "a password of the tests";
const HOUR_MS = 3_600_000;

/** A program of a user's own, on the components. */
export const ownProgram: RecordedStack = {
  name: "everything",
  programOf: (checkout) => join(checkout, "test", "engine", "programs", "everything"),
  isOwnProgram: true,
  // RabbitMQ 4.3 alone has delayed retries.
  configOf: (_, { isNewest }) => ({ network: { hasDelayedRetry: isNewest, password: PASSWORD } }),
};

/** The project's own program, by its config. */
export const configuredStack: RecordedStack = {
  name: "stack",
  programOf: (checkout) => checkout,
  isOwnProgram: false,
  configOf: (vhost, { isNewest }) => ({
    removal: "retain",
    createVhost: true,
    network: { preset: "custom", prefix: "orders", radix: 2, levels: 2, unitMs: HOUR_MS },
    endpoints: [
      { name: "Sales", createQueue: true, retries: true },
      { name: "Europe.Sales", createQueue: true, queueType: "classic", patterns: ["Europe.Sales", "Europe.*.Sales"] },
      { name: "work" },
    ],
    retryIntervals: { intervals: ["5h"], queueType: "quorum" },
    workQueues: [{ queue: "work", delays: ["2h"] }],
    holdQueues: { delays: ["3h"], destinations: [{ exchange: "", routingKey: "Sales" }] },
    ...(isNewest ? { delayedRetryQueues: [{ queue: "counted", minMs: 5000, settings: "policy" }] } : {}),
    delayedStore: { forwards: [{ exchange: "in", delivery: "events" }], user: `${vhost}-store` },
    storePassword: PASSWORD,
  }),
};

/** What a version left of it on a broker. */
export function fixtureOf({ name }: RecordedStack, version: string, { isNewest }: BrokerKind): string {
  return `${name}-${version}-on-${isNewest ? "4.3" : "3.10"}.json.gz`;
}
