/** A resource of the program "plain"; see its index.js. */
export interface Resource {
  type: string;
  name: string;
  args: Record<string, unknown>;
  opts?: Record<string, unknown>;
  isGrouped?: boolean;
  /** Logical names of earlier resources on which it depends. */
  after?: string[];
  /** Logical name of an earlier provider that declares it. */
  by?: string;
}

export const exchange = (name: string, type = "topic", opts = {}, logical = name): Resource => ({
  type: "Exchange",
  name: logical,
  args: { name, settings: { type, durable: true } },
  opts,
});
export const queue = (name: string, values: object = {}, opts = {}): Resource => ({
  type: "Queue",
  name,
  args: { name, settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...values }) } },
  opts,
});
export const binding = (logical: string, routingKey: string, opts = {}, values: object = {}): Resource => ({
  type: "Binding",
  name: logical,
  args: { source: "in", destination: "q", destinationType: "queue", routingKey, ...values },
  opts,
});
export const policy = (name: string, definition: object, more: object = {}, opts = {}): Resource => ({
  type: "Policy",
  name,
  args: { name, policy: { pattern: "^q$", applyTo: "queues", priority: 1, definition, ...more } },
  opts,
});
export const operatorPolicy = (...given: Parameters<typeof policy>): Resource => ({
  ...policy(...given),
  type: "OperatorPolicy",
});
