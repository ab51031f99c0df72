import { DEFAULT_EXCHANGE, oneOfNames } from "../access/access";
import type { BindingPlan, EntityPlan, ExchangePlan, QueuePlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { byHand, Source } from "../optionReading";
import { deadLetterArguments } from "../queueKind";

/** Types that an exchange behind an intake can have; those of AMQP 0-9-1. */
export const deliveryTypes = ["direct", "topic", "fanout", "headers"] as const;

/** See {@link deliveryTypes}. */
export type DeliveryType = (typeof deliveryTypes)[number];

/** An exchange that delayed messages are published to as if it delayed them itself, as the archived plugin's did. */
export interface StoreForward {
  /** What publishers publish to; it leads into the intake. */
  exchange: string;
  /** Where due messages go, under the routing key that they were published with; queues are bound here. */
  delivery: string;
  /** Type of the delivery exchange. */
  type: DeliveryType;
  /** False where others declare both exchanges, and lead the one into the intake; undefined: they are declared along. */
  declare?: boolean;
}

/** Where a store or a gateway takes delayed messages in, and where it may deliver them. */
export interface MessageIntake {
  /** Its name, and that of its intake exchange; start of all other names. */
  name: string;
  /** The queue that it takes messages from. */
  intakeQueue: string;
  /** The exchange and the queue for what can't be read or delivered, of one name. */
  errorQueue: string;
  forwards: StoreForward[];
  /** Whether messages may go to queues, by the default exchange, which reaches all queues of the vhost. */
  toQueues: boolean;
  /** Further exchanges that messages may name in their headers. */
  exchanges: string[];
}

/**
 * Names the properties of a store or a gateway for messages, whose name a component and a stack's config call otherwise than its descriptor.
 * @param name what they call it
 */
export function withNameAs(name: "storeName" | "gatewayName"): Source {
  return { ...byHand, at: (property) => property.replace(/^name$/, name) };
}

/** A name that is used twice would lead a due message back into the intake, round and round. */
export function checkIntakeApart(
  intake: MessageIntake,
  further: readonly string[],
  at: (name: string) => string,
): void {
  const seen = new Set([...intakeExchangesOf({ ...intake, forwards: [] }), intake.errorQueue, ...further]);
  const check = (property: string, name: string): void => {
    if (seen.has(name)) throw new DelayTopologyError(at(property), name, `${intake.name} has an exchange of that name`);
  };
  intake.forwards.forEach(({ exchange, delivery }, index) => {
    check(`forwards[${index}].exchange`, exchange);
    seen.add(exchange);
    check(`forwards[${index}].delivery`, delivery);
    seen.add(delivery);
  });
  intake.exchanges.forEach((exchange, index) => check(`exchanges[${index}]`, exchange));
}

/** The exchanges that lead into an intake: its own, and those that stand for a delayed exchange, unless others declare them. */
export function intakeExchangesOf({ name, forwards }: Pick<MessageIntake, "name" | "forwards">): string[] {
  return [name, ...forwards.filter(isDeclared).map(({ exchange }) => exchange)];
}

function isDeclared({ declare }: StoreForward): boolean {
  return declare !== false;
}

/** The exchanges that due messages may be published to; the empty name is the default exchange. */
export function deliveryExchangesOf({
  toQueues,
  forwards,
  exchanges,
}: Pick<MessageIntake, "toQueues" | "forwards" | "exchanges">): string[] {
  return [...(toQueues ? [""] : []), ...forwards.map(({ delivery }) => delivery), ...exchanges];
}

/**
 * Plans an intake's exchanges, and its intake and error queues. What expires in the intake queue by a TTL of its own, or is refused too
 * often, goes to the error queue: it is never lost.
 * @param pairs names of which there is an exchange and a queue besides, bound to each other
 * @param more further arguments of the intake queue
 */
export function planIntake(
  intake: MessageIntake,
  pairs: readonly string[] = [],
  more: QueuePlan["arguments"] = {},
): EntityPlan {
  const { intakeQueue, errorQueue, forwards } = intake;
  const intakes = intakeExchangesOf(intake);
  const own = [errorQueue, ...pairs];
  return {
    exchanges: [
      ...[...own, ...intakes].map((name) => durable(name, "fanout")),
      ...forwards.filter(isDeclared).map(({ delivery, type }) => durable(delivery, type)),
    ],
    queues: [...own.map(plainQueue), takenQueue(intake, intakeQueue, more)],
    bindings: [...own.map((name) => bind(name, name)), ...intakes.map((exchange) => bind(exchange, intakeQueue))],
  };
}

/** A quorum queue that a process takes messages from, none of which is lost. */
export function takenQueue(
  { errorQueue }: Pick<MessageIntake, "errorQueue">,
  name: string,
  more: QueuePlan["arguments"] = {},
): QueuePlan {
  const values = { "x-queue-type": "quorum", ...deadLetterArguments(true, { exchange: errorQueue }), ...more };
  return { name, durable: true, arguments: values };
}

/** A quorum queue without further arguments. */
function plainQueue(name: string): QueuePlan {
  return { name, durable: true, arguments: { "x-queue-type": "quorum" } };
}

/** A durable exchange. */
function durable(name: string, type: ExchangePlan["type"]): ExchangePlan {
  return { name, type, durable: true };
}

/** A binding of a fanout exchange to a queue. */
function bind(source: string, destination: string): BindingPlan {
  return { source, destination, destinationType: "queue", routingKey: "" };
}

/** The pattern of the exchanges that a process writes to: its error exchange, the default exchange, and where messages may go. */
export function writtenBy(intake: MessageIntake, further: readonly string[] = []): string {
  const named = deliveryExchangesOf(intake).filter((exchange) => exchange !== "");
  return oneOfNames([intake.errorQueue, DEFAULT_EXCHANGE, ...named, ...further]);
}
