import { brokerFaultIds } from "./brokerFaults";

/** What a production stack refuses, unless its config allows it in these words, and faults of brokers that are known of. */
export const allowances = [
  "classic-level-queues",
  "removal-delete",
  "single-node",
  "plain-text",
  "unverified-certificate",
  "guest-user",
  ...brokerFaultIds,
] as const;
export type Allowance = (typeof allowances)[number];
