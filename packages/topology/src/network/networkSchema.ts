import { brokerLimits, checkEntityName, checkVhostName } from "../names";
import { flag, object, oneNumberOf, oneOf, textBy, wholeNumber } from "../schema/fields";
import { lazily } from "../schema/zod";
import { matchings, presets, queueTypes, radixes } from "./delayNetwork";
import { MOST_LEVELS } from "./descriptor";

/** A delay network, as a stack's config, a component and a program of one's own write it. What a vendor fixes can't be changed. */
export const networkSchema = lazily(() =>
  object({
    preset: oneOf(presets).describe(
      "Names and arguments of a vendor: `nservicebus`, `nservicebus-v1` or `celery`, byte for byte, or `custom`.",
    ),
    prefix: textBy(checkEntityName)
      .optional()
      .describe(
        "Start of all names; needed for `custom`, optional for `celery` (put before its names with `_`), fixed for the others.",
      ),
    radix: oneNumberOf(radixes)
      .optional()
      .describe("Digits per level; `custom` only, default 4. A higher radix means fewer hops and less lateness."),
    levels: wholeNumber(1, MOST_LEVELS)
      .optional()
      .describe(
        "Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer.",
      ),
    unitMs: wholeNumber(1, brokerLimits.messageTtlMs)
      .optional()
      .describe("Smallest delay in milliseconds; `custom` only, default 1000."),
    queueType: oneOf(queueTypes)
      .optional()
      .describe("Type of the level queues; `custom` and `celery` only, default `quorum`."),
    matching: oneOf(matchings)
      .default("exact")
      .describe(
        "Rule that tells endpoints apart: `exact`, the vendors' `suffix`, which also catches `OTHER.ENDPOINT`, or `enforced`: exact " +
          "even though NServiceBus's senders bind by suffix; for its presets only.",
      ),
    parking: flag()
      .default(true)
      .describe(
        "Whether what no binding takes is kept in a parking queue. Without it such a message stalls its level.",
      ),
    vhost: textBy(checkVhostName).default("/").describe("The vhost that it is declared in."),
  }),
);
