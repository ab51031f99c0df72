import type { z } from "zod";
import { AccessPlan, DEFAULT_EXCHANGE, oneOfNames } from "../access/access";
import type { BindingPlan, EntityPlan, ExchangePlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { checkEntityName } from "../names";
import { deadLetterArguments } from "../queueKind";
import { optionsIn, readDescriptor } from "../schema/descriptor";
import { flag, object, oneOf, textBy } from "../schema/fields";
import { Source, byHand, readOptions } from "../schema/options";
import { lazily, zod } from "../schema/zod";

/** Types that an exchange behind the store can have; those of AMQP 0-9-1. */
export const deliveryTypes = ["direct", "topic", "fanout", "headers"] as const;
/** See {@link deliveryTypes}. */
export type DeliveryType = (typeof deliveryTypes)[number];

/** An exchange that delayed messages are published to as if it delayed them itself, as the archived plugin's did. */
export interface StoreForward {
  /** What publishers publish to; it leads into the store. */
  exchange: string;
  /** Where due messages go, under the routing key that they were published with; queues are bound here. */
  delivery: string;
  /** Type of the delivery exchange. */
  type: DeliveryType;
  /** False where others declare both exchanges, and lead the one into the store; undefined: the store's side does. */
  declare?: boolean;
}

/** The descriptor of an external delayed-message store's side of the broker: plain JSON that a stack exports. */
export interface DelayedStore {
  kind: "delayed-store";
  version: 1;
  /** Name of the store and of its intake exchange; start of all other names. */
  name: string;
  /** The queue that the store takes messages from. */
  intakeQueue: string;
  /** The exchange and the queue for what can't be stored or delivered, of one name. */
  errorQueue: string;
  /** The exchange and the queue for cancellations and queries, of one name. */
  controlQueue: string;
  forwards: StoreForward[];
  /** Whether messages may go to queues, by the default exchange, which reaches all queues of the vhost. */
  toQueues: boolean;
  /** Further exchanges that messages may name in their headers. */
  exchanges: string[];
}

const forwardSchema = lazily(() =>
  object({
    exchange: textBy(checkEntityName).describe("What publishers publish to; it leads into the store."),
    delivery: textBy(checkEntityName).describe(
      "Where due messages go, under the routing key that they were published with; queues are bound here.",
    ),
    type: oneOf(deliveryTypes).default("topic").describe("Type of the delivery exchange."),
    declare: flag()
      .optional()
      .describe(
        "Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is the store's intake exchange.",
      ),
  }),
);

/** The broker's side of a store, as a program of one's own writes it. */
export const delayedStoreSchema = lazily(() =>
  object({
    name: textBy(checkEntityName)
      .default("delayed")
      .describe("Name of the store and of its intake exchange; start of all other names."),
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
  }),
);

/** What the broker's side of a store is made from; {@link delayedStoreSchema} describes each property. */
export type DelayedStoreOptions = z.input<ReturnType<typeof delayedStoreSchema>>;

/**
 * Makes the descriptor of a store's side of the broker from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayedStore(options: DelayedStoreOptions = {}): DelayedStore {
  return makeDelayedStore(options, byHand);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayedStore(value: unknown, property = "delayedStore"): DelayedStore {
  return readDescriptor<DelayedStore>(value, "delayed-store", property, (given, source) =>
    makeDelayedStore(optionsIn(delayedStoreSchema(), given), source),
  );
}

function makeDelayedStore(options: unknown, source: Source): DelayedStore {
  const { at } = source;
  const { name, forwards, toQueues, exchanges } = readOptions(delayedStoreSchema(), options, "delayedStore", source);
  const store: DelayedStore = {
    kind: "delayed-store",
    version: 1,
    name,
    intakeQueue: checkEntityName(at("name"), `${name}.intake`),
    errorQueue: `${name}.error`,
    controlQueue: `${name}.control`,
    forwards,
    toQueues,
    exchanges,
  };
  checkApart(store, at);
  return store;
}

/** A name that is used twice would lead a due message back into the store, round and round. */
function checkApart(store: DelayedStore, at: (name: string) => string): void {
  const seen = new Set([...intakeExchangesOf({ ...store, forwards: [] }), store.errorQueue, store.controlQueue]);
  const check = (property: string, name: string): void => {
    if (seen.has(name)) throw new DelayTopologyError(at(property), name, "the store has an exchange of that name");
  };
  store.forwards.forEach(({ exchange, delivery }, index) => {
    check(`forwards[${index}].exchange`, exchange);
    seen.add(exchange);
    check(`forwards[${index}].delivery`, delivery);
    seen.add(delivery);
  });
  store.exchanges.forEach((exchange, index) => check(`exchanges[${index}]`, exchange));
}

/** The exchanges that lead into the store: its own, and those that stand for a delayed exchange, unless others declare them. */
export function intakeExchangesOf({ name, forwards }: DelayedStore): string[] {
  return [name, ...forwards.filter(isDeclared).map(({ exchange }) => exchange)];
}

function isDeclared({ declare }: StoreForward): boolean {
  return declare !== false;
}

/** The exchanges that due messages may be published to; the empty name is the default exchange. */
export function deliveryExchangesOf({ toQueues, forwards, exchanges }: DelayedStore): string[] {
  return [...(toQueues ? [""] : []), ...forwards.map(({ delivery }) => delivery), ...exchanges];
}

/**
 * Plans the store's exchanges and queues. What expires in the intake queue by a TTL of its own, or is refused too often, goes
 * to the error queue: it is never lost.
 */
export function planDelayedStore(store: DelayedStore): EntityPlan {
  const { intakeQueue, errorQueue, controlQueue, forwards } = store;
  const quorum = { "x-queue-type": "quorum" };
  const intakes = intakeExchangesOf(store);
  return {
    exchanges: [
      ...[errorQueue, controlQueue, ...intakes].map((name) => durable(name, "fanout")),
      ...forwards.filter(isDeclared).map(({ delivery, type }) => durable(delivery, type)),
    ],
    queues: [
      { name: errorQueue, durable: true, arguments: quorum },
      { name: controlQueue, durable: true, arguments: quorum },
      {
        name: intakeQueue,
        durable: true,
        arguments: { ...quorum, ...deadLetterArguments(true, { exchange: errorQueue }) },
      },
    ],
    bindings: [
      bind(errorQueue, errorQueue),
      bind(controlQueue, controlQueue),
      ...intakes.map((exchange) => bind(exchange, intakeQueue)),
    ],
  };
}

/**
 * Plans the least permissions of the process that runs the store: it consumes the intake and control queues, publishes to
 * the error exchange and to where messages may go, answers by the default exchange, and declares nothing.
 */
export function planStoreAccess(store: DelayedStore): AccessPlan {
  const { intakeQueue, controlQueue, errorQueue } = store;
  const named = deliveryExchangesOf(store).filter((exchange) => exchange !== "");
  return {
    configure: oneOfNames([]),
    write: oneOfNames([errorQueue, DEFAULT_EXCHANGE, ...named]),
    read: oneOfNames([intakeQueue, controlQueue]),
    topics: [],
    tags: [],
  };
}

function durable(name: string, type: ExchangePlan["type"]): ExchangePlan {
  return { name, type, durable: true };
}

function bind(source: string, destination: string): BindingPlan {
  return { source, destination, destinationType: "queue", routingKey: "" };
}
