/** What a production stack refuses, unless its config allows it in these words. */
export const allowances = [
  "classic-level-queues",
  "removal-delete",
  "single-node",
  "plain-text",
  "unverified-certificate",
  "guest-user",
] as const;
export type Allowance = (typeof allowances)[number];
