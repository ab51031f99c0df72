import { object } from "../schema/fields";
import { lazily } from "../schema/zod";
import { intakeShape } from "./intakeSchema";

/** The broker's side of a store, as a program of one's own writes it. */
export const delayedStoreSchema = lazily(() => object(intakeShape("delayed")));
