import { delayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import type { Faulted } from "../history";
import type {
  Behaviour,
  HoldPart,
  NetworkPart,
  Part,
  PlannedMessage,
  RetryMessage,
  RetryPart,
  StoreMessage,
  StorePart,
} from "../plan/types";
import { takes } from "../topic";

/** Where a message may get to: one of the alternatives, each a set of places that all get it. */
export type Places = string[][];

/** The message of a part that a name in the history is about; copies that were published again have a `+` each. */
export function plannedMessage(part: Part, n: string): PlannedMessage | undefined {
  if (part.mechanism === "command") return undefined;
  return indexOf(part).get(n.replace(/\++$/, ""));
}

const indexes = new WeakMap<object, Map<string, PlannedMessage>>();

function indexOf(part: Exclude<Part, { mechanism: "command" }>): Map<string, PlannedMessage> {
  let index = indexes.get(part.messages);
  if (index === undefined) {
    index = new Map((part.messages as PlannedMessage[]).map((message) => [message.n, message]));
    indexes.set(part.messages, index);
  }
  return index;
}

/** Where a message gets to, when only the faults of its lifetime can have changed it. */
export function placesOf(part: Part, n: string, faults: readonly Faulted[]): Places {
  const message = plannedMessage(part, n);
  if (message === undefined) return [];
  switch (part.mechanism) {
    case "network":
      return networkPlaces(part, message as NetworkPart["messages"][number], faults);
    case "retry":
      return retryPlaces(part, message as RetryMessage, faults.length > 0);
    case "hold":
      return [[`queue:${(message as HoldPart["messages"][number]).destination}`]];
    case "store":
      return storePlaces(part, message as StoreMessage);
    case "command":
      return [];
  }
}

function networkPlaces(
  part: NetworkPart,
  { delayMs, destination, publisher }: NetworkPart["messages"][number],
  faults: readonly Faulted[],
): Places {
  const network = delayNetwork(part.network);
  const { routingKey } = encodeDelay(network, delayMs, destination);
  const before = part.network.matching === "suffix" ? "#." : "*.".repeat(network.levels);
  const bound = part.endpoints.filter(({ name, patterns = [name] }) =>
    patterns.some((pattern) => takes(before + pattern, routingKey)),
  );
  const gone = new Set(faults.filter(({ fault }) => fault === "unbound").map(({ subject }) => subject));
  const unparked = part.network.parking === false;
  const left = bound.filter(({ name }) => !gone.has(name));
  // The helper's messages are mandatory: one that no queue takes is returned, and never confirmed.
  const isDropped = left.length === 0 && unparked && publisher === "by-hand";
  const mayMiss = left.length < bound.length && (left.length > 0 || !unparked || isDropped);
  const alternatives = mayMiss ? [bound, left] : [bound];
  return alternatives.map((endpoints) => {
    if (endpoints.length > 0) return endpoints.map(({ name }) => `queue:${name}`);
    return unparked ? [] : ["parking"];
  });
}

/** Tries before a message goes to the error queue. */
export function allowedTries({ immediate, delaysMs }: Pick<RetryPart, "immediate" | "delaysMs">): number {
  return (1 + immediate) * (1 + delaysMs.length);
}

/** Whether a consumer's doing so counts as a failed try. */
export function isFailure(behaviour: RetryMessage["behaviour"][number]): boolean {
  return behaviour === "fail" || behaviour === "hang";
}

function retryPlaces(part: RetryPart, { behaviour }: RetryMessage, isDisturbed: boolean): Places {
  // Whatever hits the consumer hits all that it has in hand: their copies may be late, and their deliveries come again.
  const harmful = new Set<Behaviour>(["crash", "drop", "block"]);
  if (isDisturbed || part.messages.some((one) => one.behaviour.some((doing) => harmful.has(doing)))) {
    return [["handled"], ["error"]];
  }
  const ok = behaviour.indexOf("ok");
  const count = behaviour.slice(0, ok < 0 ? undefined : ok).filter(isFailure).length;
  return count >= allowedTries(part) ? [["error"]] : [["handled"]];
}

function storePlaces(part: StorePart, { destination }: StoreMessage): Places {
  return part.destinations.includes(destination) ? [[`queue:${destination}`]] : [["error"]];
}
