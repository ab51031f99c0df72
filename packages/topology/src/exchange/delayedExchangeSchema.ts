import { checkEntityName } from "../names";
import { flag, object, oneOf, textBy } from "../schema/fields";
import { atLeastOnce, delayList, queueType } from "../schema/retryFields";
import { lazily } from "../schema/zod";
import { deliveryTypes } from "../store/intake";
import { checkExchangeOfOthers } from "./rules";

/** Each message is compared with all bindings, two for each delay, one after the other. */
const MOST_DELAYS = 300;

/** A delayed exchange, as a stack's config, a component and a program of one's own write it. */
export const delayedExchangeSchema = lazily(() =>
  object({
    exchange: textBy(checkEntityName).describe(
      "What publishers publish to, with the header `x-delay` in milliseconds; start of all other names.",
    ),
    delays: delayList()
      .max(MOST_DELAYS, { error: `it must be a list of at most ${MOST_DELAYS} delays` })
      .describe(
        "The delays that messages may ask for: texts like `5m` or `PT5M`, or milliseconds; each once, in any order, at most 300.",
      ),
    delivery: textBy(checkExchangeOfOthers)
      .optional()
      .describe(
        "Where messages go when their time is over, under their own routing key; queues are bound here, never to `exchange`. Default: `EXCHANGE.delivery`.",
      ),
    type: oneOf(deliveryTypes)
      .optional()
      .describe(
        "Type of the delivery exchange, as `x-delayed-type` was; default `topic`. Left out where `declareDelivery` is false.",
      ),
    declareDelivery: flag()
      .default(true)
      .describe(
        "Whether the delivery exchange is declared along, default true; false where it belongs to others. What it takes to no queue is then not parked.",
      ),
    queueType: queueType("quorum"),
    atLeastOnce: atLeastOnce(),
    otherwise: textBy(checkExchangeOfOthers)
      .optional()
      .describe(
        "An exchange that gets what has another delay, or none, as the intake of a store. Default: a parking queue, `EXCHANGE.parking`.",
      ),
  }),
);
