// Enums as constants: a program may write the plain text, and other languages get a real enum out of the schema.

/** Whose names and arguments a network has. */
export const Preset = {
  NServiceBus: "nservicebus",
  NServiceBusV1: "nservicebus-v1",
  Celery: "celery",
  Custom: "custom",
} as const;
export type Preset = (typeof Preset)[keyof typeof Preset];

/** Kind of queue. */
export const QueueType = { Quorum: "quorum", Classic: "classic" } as const;
export type QueueType = (typeof QueueType)[keyof typeof QueueType];

/** How endpoints are told apart: `exact`, or the vendors' `suffix`, which also catches `OTHER.ENDPOINT`. */
export const Matching = { Exact: "exact", Suffix: "suffix" } as const;
export type Matching = (typeof Matching)[keyof typeof Matching];

/** What an endpoint is on the broker. */
export const EndpointType = { Queue: "queue", Exchange: "exchange" } as const;
export type EndpointType = (typeof EndpointType)[keyof typeof EndpointType];

/** What happens on the broker when something leaves the program: `retain` leaves it there with its messages. */
export const Removal = { Retain: "retain", Delete: "delete" } as const;
export type Removal = (typeof Removal)[keyof typeof Removal];
