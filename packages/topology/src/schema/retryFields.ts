import type { z } from "zod";
import { QueueType, queueTypes } from "../network/delayNetwork";
import { checkDelays, toDelayMs } from "../retry/delays";
import { flag, listBy, oneOf, refusalBy } from "./fields";
import { zod } from "./zod";

/** A list of delays that there shall be queues for. */
export function delayList(): z.ZodArray<z.ZodUnion<readonly [z.ZodNumber, z.ZodString]>> {
  const delay = zod().union([zod().number(), zod().string()], { error: refusalBy(toDelayMs) });
  return listBy(delay, checkDelays);
}

/** Of which type the queues of a mechanism are. */
export function queueType<const T extends QueueType>(
  usual: T,
): z.ZodDefault<ReturnType<typeof oneOf<typeof queueTypes>>> {
  return oneOf(queueTypes).default(usual).describe("Type of the queues that messages wait in.");
}

/** See `QueueKind`. */
export function atLeastOnce(): z.ZodOptional<z.ZodBoolean> {
  return flag()
    .optional()
    .describe(
      "Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't.",
    );
}
