import { listBy, object, text } from "../schema/fields";
import { queueType } from "../schema/retryFields";
import { lazily } from "../schema/zod";
import { checkErrorQueueList } from "./rules";

/** Queues that several services share for what they failed at, or have worked off. */
export const errorQueuesSchema = lazily(() =>
  object({
    names: listBy(text(), checkErrorQueueList).describe("Names of the queues and of their exchanges, each once."),
    queueType: queueType("quorum"),
  }),
);
