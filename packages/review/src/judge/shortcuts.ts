import { DelayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { EntityChange, isReadable, showName, text } from "../preview/entityChange";

/** A new binding by which a network's messages bypass their delay. */
export interface Shortcut {
  change: EntityChange;
  /** What it does. */
  detail: string;
}

/** The parts of a network that messages pass, by the names of its own plan. */
interface NetworkParts {
  prefix: string;
  levels: Set<string>;
  /** Queues in which messages wait for their delay. */
  queues: Set<string>;
  delivery: string;
  /** Bindings that belong to the network. */
  planned: Set<string>;
}

/**
 * Finds new bindings at the levels of a network that are not in its plan: messages that take one arrive early, or a second time. Networks
 * are recognized by their delivery exchanges, wherever the preview names one.
 */
export function shortcutsOf(changes: EntityChange[]): Shortcut[] {
  const networks = networksOf(changes);
  return changes.flatMap((change): Shortcut[] => {
    const { kind, action, after, before } = change;
    const isNew = action === "create" || (action === "replace" && keyOf(after) !== keyOf(before));
    if (kind !== "binding" || !isNew || after === undefined || change.partOf === "DelayLevelTopology") return [];
    const parts = networks.get(text(after.vhost)) ?? [];
    const detail = parts.map((network) => shortcut(network, after)).find((found) => found !== undefined);
    return detail === undefined ? [] : [{ change, detail }];
  });
}

function shortcut(network: NetworkParts, values: Record<string, unknown>): string | undefined {
  const { levels, queues, delivery, planned, prefix } = network;
  if (planned.has(keyOf(values))) return undefined;
  const [source, destination, routingKey] = [values.source, values.destination, values.routingKey].map(showName) as [
    string,
    string,
    string,
  ];
  const isOut = levels.has(source);
  const isIn = values.destinationType === "queue" ? queues.has(destination) : levels.has(destination);
  const isBack = values.destinationType !== "queue" && destination === delivery;
  const key =
    routingKey === "" ? "an empty key" : isReadable(values.routingKey) ? routingKey : "a key that can't be read";
  if (isOut && (isBack || isIn)) {
    return `By ${key}, messages go from ${source} to ${destination} beside the ways of network ${prefix}: they skip delays, or come twice.`;
  }
  if (isOut)
    return `By ${key}, ${destination} gets messages of network ${prefix} from ${source} before their delay is over.`;
  if (source === delivery && isIn) {
    return `By ${key}, what is due goes back from ${source} to ${destination}: it is delayed again, or comes twice.`;
  }
  if (isIn || isBack) {
    return `By ${key}, what is published to ${source} enters network ${prefix} at ${destination}, past the delays before it.`;
  }
  return undefined;
}

function networksOf(changes: EntityChange[]): Map<string, NetworkParts[]> {
  const found = new Map<string, Map<string, NetworkParts>>();
  for (const { kind, before, after } of changes) {
    for (const values of [before, after]) {
      const names =
        kind === "exchange" ? [values?.name] : kind === "binding" ? [values?.source, values?.destination] : [];
      for (const name of names.map(text)) {
        const network = name === "" ? undefined : networkOfDelivery(name);
        if (network === undefined) continue;
        const vhost = text(values?.vhost);
        const inVhost = found.get(vhost) ?? new Map<string, NetworkParts>();
        if (!inVhost.has(name)) inVhost.set(name, partsOf(network));
        found.set(vhost, inVhost);
      }
    }
  }
  return new Map([...found].map(([vhost, parts]) => [vhost, [...parts.values()]]));
}

function partsOf(network: DelayNetwork): NetworkParts {
  const { queues, bindings } = planEntities(network);
  return {
    prefix: network.prefix,
    levels: new Set(network.entryExchanges),
    queues: new Set(queues.map(({ name }) => name).filter((name) => name !== network.parkingQueue)),
    delivery: network.deliveryExchange,
    planned: new Set(bindings.map((binding) => keyOf({ ...binding }))),
  };
}

function keyOf(values: Record<string, unknown> | undefined): string {
  const { source, destination, destinationType, routingKey } = values ?? {};
  return JSON.stringify([source, destination, destinationType, routingKey]);
}
