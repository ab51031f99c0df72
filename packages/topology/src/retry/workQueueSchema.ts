import { checkEntityName } from "../names";
import { anyText, listBy, object, oneOf, textBy, wholeNumber } from "../schema/fields";
import { atLeastOnce, delayList, queueType } from "../schema/retryFields";
import { lazily } from "../schema/zod";
import { checkPatterns } from "./rules";
import { rejections } from "./workRetry";

/** Nobody waits for a thousand tries. */
const MOST_RETRIES = 1000;

/** A work queue with its retries, as a stack's config, a component and a program of one's own write it. */
export const workQueueSchema = lazily(() =>
  object({
    queue: textBy(checkEntityName).describe(
      "Name of the work queue and of its topic exchange; retry queues are `NAME.retry-MS`, the dead queue is `NAME.dead`.",
    ),
    delays: delayList().describe(
      "Retry delays: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. Each retry waits for the next longer one, and further ones for the longest.",
    ),
    maxRetries: wholeNumber(0, MOST_RETRIES)
      .optional()
      .describe(
        "Most returns of a message before it goes to the dead queue; without effect on what a consumer rejects under `rejected: retry`; default: once for each delay.",
      ),
    patterns: listBy(anyText("it must be a text without @ and /"), checkPatterns)
      .default(["#"])
      .describe("Binding keys of the work queue at its exchange; the default is every message."),
    queueType: queueType("quorum"),
    atLeastOnce: atLeastOnce(),
    rejected: oneOf(rejections)
      .default("dead")
      .describe(
        "Destination of what a consumer of the work queue rejects: `dead`, to the dead queue, or `retry`, to the shortest retry delay, for consumers that count their tries themselves.",
      ),
  }),
);
