import { DelayTopologyError } from "../errors";
import { checkEntityName, checkShortString } from "../names";

/** Checks the binding keys of a work queue. @throws DelayTopologyError for none, one twice, or one that no queue can have */
export function checkPatterns(property: string, patterns: unknown): void {
  if (!Array.isArray(patterns) || patterns.length === 0) {
    throw new DelayTopologyError(property, patterns, `it must be a list of at least one binding key, e.g. ["#"]`);
  }
  patterns.forEach((pattern: unknown, index) => {
    const at = `${property}[${index}]`;
    if (typeof pattern !== "string" || /[@/]/.test(pattern)) {
      throw new DelayTopologyError(at, pattern, "it must be a text without @ and /");
    }
    if (patterns.indexOf(pattern) !== index) throw new DelayTopologyError(at, pattern, "it stands in the list already");
    checkShortString(at, pattern);
    // RabbitMQ 4.3.5 and newer refuse more.
    if (pattern.split(".").filter((word) => word === "#").length > 2) {
      throw new DelayTopologyError(at, pattern, "at most two words may be #");
    }
  });
}

/** Checks the exchange of messages over the limit of deliveries. @throws DelayTopologyError */
export function checkDeadLetterExchange(property: string, value: unknown): void {
  if (typeof value !== "string") throw new DelayTopologyError(property, value, "it must be the name of an exchange");
  checkShortString(property, value);
}

/** Checks the routing key of messages over the limit of deliveries. @throws DelayTopologyError */
export function checkDeadLetterKey(property: string, value: unknown): void {
  if (typeof value !== "string") throw new DelayTopologyError(property, value, "it must be a text");
  checkShortString(property, value);
}

const HOLD_PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/;

/** Checks the start of the names of hold queues. @throws DelayTopologyError */
export function checkHoldPrefix(property: string, prefix: unknown): void {
  if (typeof prefix === "string" && HOLD_PREFIX.test(prefix) && !prefix.startsWith("amq.")) return;
  const allowed = "1 to 100 letters, digits, dots, _ and -, not starting with a dot or with amq.";
  throw new DelayTopologyError(property, prefix, `it must be ${allowed}`);
}

/** Checks the exchange or the routing key of held messages; either may be empty. @throws DelayTopologyError */
export function checkAddressPart(property: string, text: unknown): void {
  if (typeof text !== "string") {
    throw new DelayTopologyError(property, text, `it must be a text, e.g. "" for the default exchange`);
  }
  if (/\p{Surrogate}/u.test(text)) {
    throw new DelayTopologyError(property, text, "it must not contain lone surrogates");
  }
  checkShortString(property, text);
}

/** Checks the names of the error queues that services share. @throws DelayTopologyError for none, and as {@link checkErrorQueueNames} */
export function checkErrorQueueList(property: string, names: unknown): void {
  if (!Array.isArray(names) || names.length === 0)
    throw new DelayTopologyError(property, names, "it must be a list of at least one name");
  checkErrorQueueNames(property, names);
}

/** @throws DelayTopologyError for a name that can't be an exchange's and a queue's, or that stands there twice */
export function checkErrorQueueNames(property: string, names: unknown): void {
  if (!Array.isArray(names)) throw new DelayTopologyError(property, names, "it must be a list");
  names.forEach((name: unknown, index) => {
    const place = `${property}[${index}]`;
    checkEntityName(place, name);
    if (names.indexOf(name) !== index) throw new DelayTopologyError(place, name, "it is there twice; name it once");
  });
}
