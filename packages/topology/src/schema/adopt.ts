import type { z } from "zod";
import { flag } from "./fields";

/** Whether what a part declares may be there already. */
export function adopt(what: string): z.ZodOptional<z.ZodBoolean> {
  return flag()
    .optional()
    .describe(
      `Whether its ${what} may be there already, declared by others, and come under the stack with what waits there; default false.`,
    );
}
