import { brokerLimits, checkEntityName } from "../names";
import { object, oneOf, textBy, wholeNumber } from "../schema/fields";
import { lazily } from "../schema/zod";
import { delayedRetrySettings, delayedRetryTypes } from "./delayedRetry";
import { checkDeadLetterExchange, checkDeadLetterKey } from "./rules";

/** A message that failed that often is not going to succeed. */
const MOST_DELIVERIES = 1_000_000;

/** A queue with delayed retry, as a stack's config, a component and a program of one's own write it. */
export const delayedRetrySchema = lazily(() =>
  object({
    queue: textBy(checkEntityName).describe("Name of the queue."),
    type: oneOf(delayedRetryTypes)
      .default("failed")
      .describe(
        "Which returned messages the broker delays: `failed`, rejected ones and those of a lost consumer, which it counts; `returned`, those given back without a failure, which it does not count; `all`, both.",
      ),
    minMs: wholeNumber(1, brokerLimits.messageTtlMs).describe(
      "Delay of the first redelivery, in milliseconds; the nth is n times as long.",
    ),
    maxMs: wholeNumber(1, brokerLimits.messageTtlMs)
      .optional()
      .describe("Longest delay, in milliseconds; default: `minMs` times `deliveryLimit`, so that no delay is cut."),
    deliveryLimit: wholeNumber(1, MOST_DELIVERIES)
      .default(20)
      .describe("Failures before a message is dead-lettered; the default is RabbitMQ 4's own."),
    deadLetterExchange: textBy(checkDeadLetterExchange)
      .optional()
      .describe("Where messages over the limit go; default: a queue `QUEUE.dead`, which is declared along."),
    deadLetterRoutingKey: textBy(checkDeadLetterKey)
      .optional()
      .describe("The key that they get there, with `deadLetterExchange`; default: the one they have."),
    settings: oneOf(delayedRetrySettings)
      .default("arguments")
      .describe(
        "Where the settings stand: in the queue's arguments, or in a policy, which can be changed without a new queue, from 4.3.1.",
      ),
  }),
);
