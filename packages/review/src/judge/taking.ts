import { topicMatches } from "@rabbitmq-delay/topology/stack";
import { isReadable } from "../preview/entityChange";

/** Whether an exchange of a type may route a message by a binding; what can't be read, and headers, may let it through. */
export function mayTake(type: unknown, pattern: unknown, key: string): boolean {
  return !isKnown(type, pattern) || surelyTakes(type, pattern, key);
}

/** Whether an exchange of a type surely routes a message by a binding. */
export function surelyTakes(type: unknown, pattern: unknown, key: string): boolean {
  if (!isKnown(type, pattern)) return false;
  if (type === "fanout") return true;
  return type === "direct" ? (pattern ?? "") === key : topicMatches(String(pattern ?? ""), key);
}

function isKnown(type: unknown, pattern: unknown): boolean {
  return (
    type === "fanout" || (["direct", "topic"].includes(String(type)) && ((pattern ?? "") === "" || isReadable(pattern)))
  );
}
