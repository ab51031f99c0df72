import { flag, object } from "../schema/fields";
import { lazily } from "../schema/zod";
import { intakeShape } from "./intakeSchema";

/** The broker's side of a gateway, as a program of one's own writes it; its network is given beside it. */
export const delayGatewaySchema = lazily(() =>
  object({
    ...intakeShape("gateway"),
    singleActiveConsumer: flag()
      .default(false)
      .describe(
        "Whether one process at a time takes messages, and the others stand by, so that messages of one delay, up to the network's longest, keep their order. A change needs new queues.",
      ),
  }),
);
