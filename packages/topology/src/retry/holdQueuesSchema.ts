import { brokerLimits } from "../names";
import { listOf, object, textBy, wholeNumber } from "../schema/fields";
import { atLeastOnce, delayList, queueType } from "../schema/retryFields";
import { lazily } from "../schema/zod";
import { checkAddressPart, checkHoldPrefix } from "./rules";

/** What all hold queues of one make have in common, as it is written by hand. */
export const holdSettingsSchema = lazily(() =>
  object({
    prefix: textBy(checkHoldPrefix)
      .default("hold")
      .describe(
        "Start of all names: 1 to 100 letters, digits, dots, `_` and `-`, not starting with a dot or with `amq.`.",
      ),
    queueType: queueType("classic").describe(
      "Type of the hold queues; `quorum` goes without a lease, because no declare renews a quorum queue's.",
    ),
    atLeastOnce: atLeastOnce(),
    leaseMs: wholeNumber(1, brokerLimits.messageTtlMs)
      .optional()
      .describe(
        "How long a queue stays after its last declare beyond its delay, in milliseconds; default: for ever. The broker then deletes it **with the messages in it**, so a lease is only for publishers that declare the queue before each message, as `holdFor` does.",
      ),
  }),
);

export const destinationSchema = lazily(() =>
  object({
    exchange: textBy(checkAddressPart).describe(
      "An exchange, or an empty text for the broker's default exchange. It has to exist when the first message is due.",
    ),
    routingKey: textBy(checkAddressPart).describe(
      "The routing key that messages get; on the default exchange, a queue's name.",
    ),
  }),
);

/** Hold queues, as a stack's config, a component and a program of one's own write them. */
export const holdQueuesSchema = lazily(() =>
  object({
    delays: delayList().describe("Durations: texts like `5m` or `PT5M`, or milliseconds; each once, in any order."),
    destinations: listOf(destinationSchema(), "destination").describe(
      "Where messages go when their time is over; there is a queue for each destination with each delay.",
    ),
    ...holdSettingsSchema().shape,
  }),
);
