import { AccessPlan, oneOfNames } from "../access/access";
import type { EntityPlan } from "../entities";
import { checkEntityName } from "../names";
import { byHand, Source } from "../optionReading";
import type { DelayedStoreOptions } from "../options.generated";
import { optionsIn, readDescriptor } from "../readDescriptor";
import { delayedStoreNames, readDelayedStoreOptions } from "../readers.generated";
import { checkIntakeApart, MessageIntake, planIntake, writtenBy } from "./intake";

/** The descriptor of an external delayed-message store's side of the broker: plain JSON that a stack exports. */
export interface DelayedStore extends MessageIntake {
  kind: "delayed-store";
  version: 1;
  /** The exchange and the queue for cancellations and queries, of one name. */
  controlQueue: string;
}

/**
 * Makes the descriptor of a store's side of the broker from options.
 * @param source names the properties for messages
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayedStore(options: DelayedStoreOptions = {}, source: Source = byHand): DelayedStore {
  return makeDelayedStore(options, source);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayedStore(value: unknown, property = "delayedStore"): DelayedStore {
  return readDescriptor<DelayedStore>(value, "delayed-store", property, (given, source) =>
    makeDelayedStore(optionsIn(delayedStoreNames, given), source),
  );
}

function makeDelayedStore(options: unknown, source: Source): DelayedStore {
  const { at } = source;
  const { name, forwards, toQueues, exchanges } = readDelayedStoreOptions(options, "delayedStore", source);
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
  checkIntakeApart(store, [store.controlQueue], at);
  return store;
}

/** Plans the store's exchanges and queues; see {@link planIntake}. */
export function planDelayedStore(store: DelayedStore): EntityPlan {
  return planIntake(store, [store.controlQueue]);
}

/**
 * Plans the least permissions of the process that runs the store: it consumes the intake and control queues, publishes to
 * the error exchange and to where messages may go, answers by the default exchange, and declares nothing.
 */
export function planStoreAccess(store: DelayedStore): AccessPlan {
  return {
    configure: oneOfNames([]),
    write: writtenBy(store),
    read: oneOfNames([store.intakeQueue, store.controlQueue]),
    topics: [],
    tags: [],
  };
}
