import { checkKnown } from "@rabbitmq-delay/topology/stack";

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
