import { AccessPlan, oneOfNames } from "../access/access";
import type { BindingPlan, EntityPlan, ExchangePlan } from "../entities";
import { DelayTopologyError, checkOneOf, checkKnown } from "../errors";
import { checkEntityName } from "../names";
import { checkHead } from "../descriptorHead";
import { deadLetterArguments } from "../queueKind";

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

/** What the broker's side of a store is made from. */
export interface DelayedStoreOptions {
  /** Default `delayed`. */
  name?: string;
  /** Exchanges that stand for a delayed exchange each. Default none. */
  forwards?: { exchange: string; delivery: string; type?: DeliveryType }[];
  /** Default true; without it, a message needs a header or a forward that says where it goes. */
  toQueues?: boolean;
  /** Exchanges, of others, that messages may name in their headers. Default none. */
  exchanges?: string[];
}

const known = ["name", "forwards", "toQueues", "exchanges"];

/**
 * Makes the descriptor of a store's side of the broker from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayedStore(options: DelayedStoreOptions = {}): DelayedStore {
  checkKnown("delayedStore", options, known);
  const { name = "delayed", forwards = [], toQueues = true, exchanges = [] } = options;
  return checkDelayedStore({ name, forwards, toQueues, exchanges }, (property) => property);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayedStore(value: unknown, property = "delayedStore"): DelayedStore {
  const descriptor = checkHead<DelayedStore>(value, "delayed-store", property);
  const checked = checkDelayedStore(descriptor, (name) => `${property}.${name}`);
  for (const name of ["intakeQueue", "errorQueue", "controlQueue"] as const) {
    if (descriptor[name] !== checked[name]) {
      throw new DelayTopologyError(
        `${property}.${name}`,
        descriptor[name],
        `for this name it must be ${checked[name]}`,
      );
    }
  }
  return checked;
}

function checkDelayedStore(
  given: Partial<Record<keyof DelayedStore, unknown>>,
  at: (name: string) => string,
): DelayedStore {
  const name = checkEntityName(at("name"), given.name);
  const { toQueues } = given;
  if (typeof toQueues !== "boolean") {
    throw new DelayTopologyError(at("toQueues"), toQueues, "it must be true or false");
  }
  const checked: DelayedStore = {
    kind: "delayed-store",
    version: 1,
    name,
    intakeQueue: checkEntityName(at("name"), `${name}.intake`),
    errorQueue: `${name}.error`,
    controlQueue: `${name}.control`,
    forwards: listOf(at("forwards"), given.forwards).map((forward, index) =>
      checkForward(`${at("forwards")}[${index}]`, forward),
    ),
    toQueues,
    exchanges: listOf(at("exchanges"), given.exchanges).map((exchange, index) =>
      checkEntityName(`${at("exchanges")}[${index}]`, exchange),
    ),
  };
  checkApart(checked, at);
  return checked;
}

function checkForward(property: string, forward: unknown): StoreForward {
  checkKnown(property, forward, ["exchange", "delivery", "type"]);
  const { exchange, delivery, type = "topic" } = forward as Partial<StoreForward>;
  return {
    exchange: checkEntityName(`${property}.exchange`, exchange),
    delivery: checkEntityName(`${property}.delivery`, delivery),
    type: checkOneOf(`${property}.type`, type, deliveryTypes),
  };
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

function listOf(property: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new DelayTopologyError(property, value, "it must be a list");
  return value;
}

/** The exchanges that lead into the store: its own, and those that stand for a delayed exchange. */
export function intakeExchangesOf({ name, forwards }: DelayedStore): string[] {
  return [name, ...forwards.map(({ exchange }) => exchange)];
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
      ...forwards.map(({ delivery, type }) => durable(delivery, type)),
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
  };
}

/** The broker's name for the default exchange in permissions. */
const DEFAULT_EXCHANGE = "amq.default";

function durable(name: string, type: ExchangePlan["type"]): ExchangePlan {
  return { name, type, durable: true };
}

function bind(source: string, destination: string): BindingPlan {
  return { source, destination, destinationType: "queue", routingKey: "" };
}
