import type { z } from "zod";
import { anyText, object, secretBy, textLike } from "../schema/fields";
import { lazily } from "../schema/zod";
import { checkUserPassword, SHORTEST_PASSWORD, USER_NAME, USER_NAME_RULE } from "./credentials";

/** The name of a user. */
export function userName(): z.ZodString {
  return textLike(USER_NAME, USER_NAME_RULE);
}

/** Login of a service. */
export const credentialSchema = lazily(() =>
  object({
    suffix: anyText()
      .optional()
      .describe(
        "What tells it from the other, e.g. `a` and `b`, or a year in quotes. The user is `NAME-SUFFIX`; left out, it is the name.",
      ),
    password: secretBy(checkUserPassword)
      .optional()
      .describe(`At least ${SHORTEST_PASSWORD} characters; default: one is generated, once.`),
  }),
);
