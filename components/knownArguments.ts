import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { checkKnown } from "@rabbitmq-delay/topology/stack";
import { keepOnFailure } from "./keptOnFailure";

/** Every property of a type once; fails to compile when one is missing. */
export type Properties<T> = Record<keyof T, true>;

/**
 * Looks for arguments that nobody reads, in programs that no compiler checked: a misspelled `removal` is the default, and a misspelled
 * `password` a generated one.
 * @param known the arguments that are read
 * @param what names the arguments, for messages
 * @param place what the error puts before a property; none for a component's own arguments
 * @throws DelayTopologyError naming the first of them, and the known ones
 */
export function checkArguments(known: Record<string, true>, args: unknown, what: string, place = ""): void {
  checkKnown(what, args, Object.keys(known), place);
}

/**
 * A component's arguments, or a part of them, as its constructor reads them: what is null is not given, because programs in other languages
 * write so what they leave out. No arguments at all are as an empty object, so that the first one that is needed is named. Each component
 * begins with this, so that from here on a failed run keeps what is there.
 * @throws DelayTopologyError for what is no object
 */
export function givenArguments<T extends object>(args: T | null | undefined, what = "args"): T {
  keepOnFailure();
  if (args !== null && args !== undefined && (typeof args !== "object" || Array.isArray(args)))
    throw new DelayTopologyError(what, args, "it must be an object");
  return Object.fromEntries(Object.entries(args ?? {}).filter(([, value]) => value !== null)) as T;
}
