import { checkEntityName } from "../names";
import { flag, object, textBy } from "../schema/fields";
import { atLeastOnce, delayList, queueType } from "../schema/retryFields";
import { lazily } from "../schema/zod";

/** Interval queues, as a stack's config, a component and a program of one's own write them. */
export const retryIntervalsSchema = lazily(() =>
  object({
    intervals: delayList().describe("Texts like `5m` or `PT5M`, or milliseconds; each once, in any order."),
    prefix: textBy(checkEntityName).default("mt-delay").describe("Start of all names; the default is MassTransit's."),
    queueType: queueType("classic").describe(
      "Type of the interval queues; the default is what MassTransit declares, take `quorum` with a prefix that no MassTransit has.",
    ),
    atLeastOnce: atLeastOnce(),
    parking: flag()
      .default(true)
      .describe("Whether messages that come back to no queue are kept in a parking queue, `PREFIX-parking`."),
  }),
);
