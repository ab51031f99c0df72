import { auditPart, auditShortcuts } from "@rabbitmq-delay/broker";
import {
  DelayNetwork,
  DelayNetworkOptions,
  delayNetwork,
  levelQueueName,
  parkingPolicy,
  planEntities,
} from "@rabbitmq-delay/topology";
import {
  bindingName,
  canEnforce,
  compareUntyped,
  networkLimitPolicies,
  networkOfDelivery,
} from "@rabbitmq-delay/topology/stack";
import { planMatchingChange } from "../enforce/matchingChange";
import type { LiveVhost } from "./liveVhost";
import { Unplaced, differs, leftOut, note } from "./remark";

/** A network on a broker, but for how its endpoints are bound. */
export interface FoundNetwork {
  /** What makes it; the rest has its defaults. */
  options: DelayNetworkOptions;
  network: DelayNetwork;
  remarks: Unplaced[];
}

/** The networks of a vhost, and what is left of others. */
export function findNetworks(live: LiveVhost): { networks: FoundNetwork[]; remarks: Unplaced[] } {
  const networks: FoundNetwork[] = [];
  const remarks: Unplaced[] = [];
  for (const named of namedNetworks(live)) {
    const isThere = planEntities(named).queues.some(({ name }) => name !== named.parkingQueue && live.queues.has(name));
    if (isThere) networks.push(findNetwork(named, live));
    else {
      const message =
        `of network ${named.prefix} there is no level's queue, only something beside; if nothing uses it any more, delete ` +
        `what is left of it`;
      remarks.push(leftOut(message));
    }
  }
  return { networks, remarks };
}

/** What the parts of a network are called: the network's prefix, a separator, and which part it is. */
const PART_NAMES = [/^(.+)([.-])level-\d+(?:-\d+)?$/s, /^(.+)(_)\d+$/s, /^(.+)([._-])(?:delivery|exact|parking)$/s];

/** Networks of which anything is there, in the order of their names: the name of each part tells the whole network's shape. */
function namedNetworks(live: LiveVhost): DelayNetwork[] {
  const networks = new Map<string, DelayNetwork>();
  for (const name of [...live.exchanges.keys(), ...live.queues.keys()]) {
    const [, prefix, separator] = PART_NAMES.map((pattern) => pattern.exec(name)).find((parts) => parts !== null) ?? [];
    if (prefix === undefined || networks.has(prefix)) continue;
    const network = networkOfDelivery(`${prefix}${separator}delivery`);
    if (network?.prefix === prefix && hasPart(network, name)) networks.set(prefix, network);
  }
  return [...networks].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, network]) => network);
}

function hasPart(network: DelayNetwork, name: string): boolean {
  const { exchanges, queues } = planEntities(network);
  const enforced = bindingName({ ...network, matching: "enforced" });
  return (
    [...exchanges, ...queues].some((part) => part.name === name) || (canEnforce(network.preset) && name === enforced)
  );
}

function findNetwork(named: DelayNetwork, live: LiveVhost): FoundNetwork {
  const { prefix, parkingExchange = "", parkingQueue = "" } = named;
  const isParking = live.exchanges.has(parkingExchange) || live.queues.has(parkingQueue);
  const parked: DelayNetworkOptions = {
    ...shapeOf(named, live),
    ...(isEnforced(named, live) ? { matching: "enforced" as const } : {}),
  };
  const options: DelayNetworkOptions = isParking ? parked : { ...parked, parking: false };
  const network = delayNetwork(options);
  const entities = planEntities(network);
  const parking = parkingPolicy(network);
  const part = { subject: prefix, entities, policies: parking === undefined ? [] : [parking] };
  const findings = [...auditPart(part, live.content), ...auditShortcuts(network, entities, [...live.content.bindings])];
  const untyped = entities.queues.flatMap((plan) =>
    compareUntyped(plan, live.queues.get(plan.name), live.content.defaultQueueType),
  );
  const remarks = [
    ...changeOf(network, live),
    ...[...findings.map(({ message }) => message), ...untyped].map((message) => differs(message)),
  ];
  if (named.preset !== "custom") remarks.push(...otherStackOf(network, live));
  if (!isParking) remarks.push(note(describeUnparked(network)));
  if (named.preset === "custom") {
    remarks.push(note(`a stack of this project declared it; ${ELSEWHERE}`));
  }
  // No vendor has a parking queue, and what stands beside a vendor's network changes nothing of it.
  return { options: named.preset === "custom" ? options : parked, network, remarks };
}

/** Way out where another stack has a network: each stack's config has to have one, so that this config can't be used without it. */
const ELSEWHERE =
  "while that one has it, leave this config, and declare endpoints in that stack, or in a service's program with its output delayNetwork " +
  "(docs/services.md)";

/** Policies of this project's names are no vendor's. */
function otherStackOf(network: DelayNetwork, { content }: LiveVhost): Unplaced[] {
  const own = [parkingPolicy(network), ...networkLimitPolicies(network, { brokerVersion: content.version })];
  const names = new Set(own.map((policy) => policy?.name));
  const policy = content.policies.find(({ name, isOperator }) => isOperator !== true && names.has(name));
  if (policy === undefined) return [];
  return [note(`a stack of this project has set policy ${policy.name} for it; ${ELSEWHERE}`)];
}

function describeUnparked({ preset, queueType }: DelayNetwork): string {
  const harm = queueType === "quorum" ? "stalls its level" : "is dropped";
  const way =
    preset === "custom" ? "leave parking: false out, and the stack adds one" : "the stack adds one, beside the network";
  return `it has no parking queue, so a message that no endpoint takes ${harm}; ${way}`;
}

/** A change of a live network's matching that did not end: what it put aside for a while is not missing. */
function changeOf(network: DelayNetwork, live: LiveVhost): Unplaced[] {
  if (!canEnforce(network.preset)) return [];
  const { detour, otherDetour } = planMatchingChange(network);
  const isOpen = [detour, otherDetour].some(
    ({ exchange, queue }) => live.exchanges.has(exchange) || live.queues.has(queue.name),
  );
  if (!isOpen) return [];
  const message =
    `rabbitmq-delay enforce has begun to change its matching, and not ended, so that parts of it are away for a while; let it end, or ` +
    `run rabbitmq-delay enforce --preset ${network.preset} (with --undo for the way back), and then this again`;
  return [differs(message)];
}

/** The options that the names tell, and the type of the levels' queues. */
function shapeOf(named: DelayNetwork, live: LiveVhost): DelayNetworkOptions {
  const { preset, prefix, radix, levels, unitMs, queueType } = named;
  switch (preset) {
    case "custom": {
      const own = prefix.replace(/\.r\d+x\d+u\d+c?$/, "");
      return { preset, prefix: own, radix, levels, unitMs, queueType };
    }
    case "celery": {
      const own = /^(.+)_celery_delayed$/s.exec(prefix)?.[1];
      const type = isMostlyClassic(named, live) ? { queueType: "classic" as const } : {};
      return { preset, ...(own === undefined ? {} : { prefix: own }), ...type };
    }
    default:
      return { preset };
  }
}

/** A single queue of another type is one that differs, and makes no other network. */
function isMostlyClassic(named: DelayNetwork, live: LiveVhost): boolean {
  const types = planEntities(named)
    .queues.filter(({ name }) => name !== named.parkingQueue)
    .map(({ name }) => live.queues.get(name))
    .filter((queue) => queue !== undefined)
    .map(({ arguments: values }) => values["x-queue-type"] ?? "classic");
  return types.filter((type) => type === "classic").length * 2 > types.length;
}

/** Level 0 decides: the exchange for enforced matching may be there before it leads there, or still be there after. */
function isEnforced(named: DelayNetwork, live: LiveVhost): boolean {
  if (!canEnforce(named.preset)) return false;
  const end = bindingName({ ...named, matching: "enforced" });
  const queue = levelQueueName(named, 0, 1);
  if (live.queues.has(queue)) return live.targetOf(queue) === end;
  return live.from(named.entryExchanges[0] as string).some(({ destination }) => destination === end);
}
