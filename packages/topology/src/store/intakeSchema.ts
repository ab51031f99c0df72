import type { z } from "zod";
import { checkEntityName } from "../names";
import { flag, object, oneOf, textBy } from "../schema/fields";
import { lazily, zod } from "../schema/zod";
import { deliveryTypes } from "./intake";

const forwardSchema = lazily(() =>
  object({
    exchange: textBy(checkEntityName).describe("What publishers publish to; it leads into the intake."),
    delivery: textBy(checkEntityName).describe(
      "Where due messages go, under the routing key that they were published with; queues are bound here.",
    ),
    type: oneOf(deliveryTypes).default("topic").describe("Type of the delivery exchange."),
    declare: flag()
      .optional()
      .describe(
        "Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange.",
      ),
  }),
);

/** See {@link intakeShape}. */
export type IntakeShape = {
  name: z.ZodDefault<z.ZodString>;
  forwards: z.ZodDefault<z.ZodArray<ReturnType<typeof forwardSchema>>>;
  toQueues: z.ZodDefault<z.ZodBoolean>;
  exchanges: z.ZodDefault<z.ZodArray<z.ZodString>>;
};

/** The properties that a store's and a gateway's options share; they differ by their default name. */
export function intakeShape(defaultName: string): IntakeShape {
  return {
    name: textBy(checkEntityName)
      .default(defaultName)
      .describe("Its name, and that of its intake exchange; start of all other names."),
    forwards: zod()
      .array(forwardSchema(), { error: "it must be a list" })
      .default([])
      .describe("Exchanges that stand for a delayed exchange each, as the archived plugin's did."),
    toQueues: flag()
      .default(true)
      .describe(
        "Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.",
      ),
    exchanges: zod()
      .array(textBy(checkEntityName), { error: "it must be a list" })
      .default([])
      .describe("Exchanges of others that messages may name in their headers."),
  };
}
