import { describeDelay, formatDelay } from "@rabbitmq-delay/topology";
import {
  ComponentName,
  componentKinds,
  componentOf,
  networkOfDelivery,
  waitMsOf,
} from "@rabbitmq-delay/topology/stack";
import { EntityChange, brokerName, queueArguments } from "../preview/entityChange";
import { isEnforced, isSameNetwork, networkEnds } from "../preview/networkEnds";
import { nameOf, typeOf } from "../preview/urn";
import { plural } from "./plural";

/** Whether something is new, gone, or changed. */
export type Mark = "added" | "removed" | "changed";

/** One thing that changes, in the terms of the field. */
export interface ChangeLine {
  mark: Mark;
  /** e.g. `endpoint`, `network`, `queue outside the components`. */
  subject: string;
  name: string;
  /** e.g. `joins network orders.r4x2u1000`. */
  predicate: string;
  /** The exchange of the network that it belongs to, for the picture. */
  network?: string;
}

type Describe = (component: EntityChange | undefined, children: EntityChange[], name: string) => ChangeLine[];

/** How each component's change is told: a component without a line here does not compile. */
const components: Record<ComponentName, Describe> = {
  DelayLevelTopology: describeNetwork,
  EndpointDelayBinding: describeEndpoint,
  RetryIntervalQueues: describeWaiting("RetryIntervalQueues"),
  WorkRetryQueues: describeWaiting("WorkRetryQueues"),
  HoldQueues: describeWaiting("HoldQueues"),
  DelayedRetryQueue: describeWaiting("DelayedRetryQueue"),
  DelayedExchange: describeWaiting("DelayedExchange"),
  ErrorQueues: describeWaiting("ErrorQueues"),
  DelayedMessageStore: describeWaiting("DelayedMessageStore"),
  DelayGateway: describeWaiting("DelayGateway"),
  EndpointUser: describeUser,
  RabbitMqCluster: describeCluster,
};

/** The changes, by component; a resource outside the components stands alone. */
export function summaryOf(changes: EntityChange[]): ChangeLine[] {
  const byUrn = new Map(changes.map((change) => [change.urn, change]));
  const children = new Map<string, EntityChange[]>();
  const outside: EntityChange[] = [];
  for (const change of changes) {
    const owner = ownerOf(change);
    if (owner === undefined) {
      outside.push(change);
      continue;
    }
    const own = children.get(owner);
    if (own === undefined) children.set(owner, [change]);
    else own.push(change);
  }
  const lines = [...children].flatMap(([urn, own]) => {
    const component = byUrn.get(urn);
    const hasChanged = [...(component === undefined ? [] : [component]), ...own].some(
      ({ action }) => action !== "same",
    );
    const describe = components[componentOf(typeOf(urn)) as ComponentName];
    return hasChanged ? describe(component, own, nameOf(urn)) : [];
  });
  return [...lines, ...outside.flatMap(describeOutside)].sort(inOrder);
}

/** Networks first, because endpoints join them; then by kind and name, in whatever order the engine planned. */
function inOrder(a: ChangeLine, b: ChangeLine): number {
  const keyOf = ({ subject, mark, name }: ChangeLine): string =>
    JSON.stringify([
      subject === "network" ? 0 : subject.includes("outside") || subject.includes(":") ? 2 : 1,
      subject,
      mark,
      name,
    ]);
  const [one, other] = [keyOf(a), keyOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function ownerOf({ urn, parent, kind }: EntityChange): string | undefined {
  if (kind === "component") return componentOf(typeOf(urn)) === undefined ? undefined : urn;
  return parent !== undefined && componentOf(typeOf(parent)) !== undefined ? parent : undefined;
}

function describeNetwork(_: EntityChange | undefined, children: EntityChange[], name: string): ChangeLine[] {
  const deliveries = networkEnds(children);
  const matching = describeMatching(deliveries);
  if (matching !== undefined) return [matching];
  const gone = deliveries.find(({ action }) => action === "delete");
  const created = deliveries.find(({ action }) => action === "create");
  const lines: ChangeLine[] = [];
  if (created !== undefined) {
    const predicate = gone === undefined ? `is declared: ${shape(brokerName(created))}` : succession(gone, created);
    lines.push({
      mark: "added",
      subject: "network",
      name: networkName(created),
      predicate,
      network: brokerName(created),
    });
  }
  if (gone !== undefined) {
    const predicate = gone.isRetained ? "leaves the program, and stays on the broker" : "is deleted";
    lines.push({ mark: "removed", subject: "network", name: networkName(gone), predicate, network: brokerName(gone) });
  }
  if (lines.length > 0) return lines;
  const same = deliveries[0];
  const label = same === undefined ? name : networkName(same);
  return [
    {
      mark: "changed",
      subject: "network",
      name: label,
      predicate: countActions(children),
      network: same && brokerName(same),
    },
  ];
}

/** A network that stays, and whose matching changes. */
function describeMatching(ends: EntityChange[]): ChangeLine | undefined {
  const changed = ends.find((end) => isEnforced(end) && (end.action === "create" || end.action === "delete"));
  if (changed === undefined || !ends.some((end) => end.action === "same" && isSameNetwork(end, changed)))
    return undefined;
  const predicate = changed.action === "create" ? "is to enforce exact matching" : "no longer enforces exact matching";
  const common = { mark: "changed" as const, subject: "network", name: networkName(changed) };
  return { ...common, predicate, network: brokerName(changed) };
}

function networkName(delivery: EntityChange): string {
  const name = brokerName(delivery);
  return networkOfDelivery(name)?.prefix ?? name;
}

function shape(delivery: string): string {
  const network = networkOfDelivery(delivery);
  if (network === undefined) return delivery;
  const { radix, levels, unitMs, maximumDelayMs } = network;
  return `radix ${radix}, ${levels} levels of ${formatDelay(unitMs)}, longest delay ${describeDelay(maximumDelayMs)}`;
}

/** How the new network differs from the old one. */
function succession(gone: EntityChange, created: EntityChange): string {
  const place = gone.isRetained ? "beside" : "instead of";
  const [before, after] = [gone, created].map((delivery) => networkOfDelivery(brokerName(delivery)));
  const start = `is a new network ${place} ${networkName(gone)}`;
  if (before === undefined || after === undefined) return start;
  const differences = [
    ["queues", before.queueType, after.queueType],
    ["radix", before.radix, after.radix],
    ["levels", before.levels, after.levels],
    ["unit", formatDelay(before.unitMs), formatDelay(after.unitMs)],
    ["longest delay", describeDelay(before.maximumDelayMs), describeDelay(after.maximumDelayMs)],
  ].filter(([, one, other]) => one !== other);
  if (differences.length === 0) return start;
  return `${start}: ${differences.map(([what, one, other]) => `${what} ${one} → ${other}`).join(", ")}`;
}

function describeEndpoint(component: EntityChange | undefined, children: EntityChange[], name: string): ChangeLine[] {
  const bindings = children.filter(({ kind }) => kind === "binding");
  const binding = bindings.find(({ action }) => action !== "same") ?? bindings[0];
  const destination = String((binding?.after ?? binding?.before)?.destination ?? name);
  const source = String((binding?.after ?? binding?.before)?.source ?? "");
  const common = { subject: "endpoint", name: destination, network: source };
  const network = networkOfDelivery(source)?.prefix ?? source;
  if (component?.action === "create") return [{ ...common, mark: "added", predicate: `joins ${network}` }];
  if (component?.action === "delete") return [{ ...common, mark: "removed", predicate: `leaves ${network}` }];
  const before = String(binding?.before?.source ?? "");
  if (binding?.action === "replace" && before !== source) {
    const from = networkOfDelivery(before)?.prefix ?? before;
    return [{ ...common, mark: "changed", predicate: `moves from ${from} to ${network}` }];
  }
  return [{ ...common, mark: "changed", predicate: countActions(children) }];
}

function describeUser(component: EntityChange | undefined, children: EntityChange[], name: string): ChangeLine[] {
  const subject = "service's user";
  const logins = (action: EntityChange["action"]): string =>
    children
      .filter((child) => child.kind === "user" && child.action === action)
      .map(brokerName)
      .join(", ");
  if (component?.action === "create")
    return [{ mark: "added", subject, name, predicate: `is declared: ${logins("create")}` }];
  if (component?.action === "delete") {
    const isKept = children.some(({ kind, isRetained }) => kind === "user" && isRetained);
    const predicate = `${isKept ? "leaves the program, and stays" : "is deleted"}: ${logins("delete")}`;
    return [{ mark: "removed", subject, name, predicate }];
  }
  const [added, removed] = [logins("create"), logins("delete")];
  const parts = [added && `login ${added} added`, removed && `login ${removed} removed`].filter((part) => part !== "");
  const predicate = parts.length > 0 ? parts.join(", ") : countActions(children);
  return [{ mark: "changed", subject, name, predicate }];
}

function describeCluster(component: EntityChange | undefined, children: EntityChange[], name: string): ChangeLine[] {
  const { subject } = componentKinds.RabbitMqCluster;
  const gone = children.filter(
    ({ action, kind }) => action === "delete" && !["component", "provider", "password"].includes(kind),
  );
  if (component?.action === "create") return [{ mark: "added", subject, name, predicate: "is declared" }];
  if (component?.action !== "delete") return [{ mark: "changed", subject, name, predicate: countActions(children) }];
  const isKept = gone.length > 0 && gone.every(({ isRetained }) => isRetained);
  const predicate = isKept ? "leaves the program, and stays in Kubernetes" : "is deleted";
  return [{ mark: "removed", subject, name, predicate }];
}

function describeWaiting(component: ComponentName): Describe {
  const { subject } = componentKinds[component];
  return (own, children, name) => {
    const delays = (action: EntityChange["action"]): string =>
      children
        .filter((child) => child.kind === "queue" && child.action === action)
        .map(({ after, before }) => waitMsOf(queueArguments(after ?? before)))
        .filter((waitMs) => waitMs !== undefined)
        .map(formatDelay)
        .join(", ");
    const [added, removed] = [delays("create"), delays("delete")];
    if (own?.action === "create") {
      const predicate = added === "" ? "is declared" : `is declared: ${added}`;
      return [{ mark: "added", subject, name, predicate }];
    }
    if (own?.action === "delete") {
      const isKept = children.some((child) => child.kind === "queue" && child.isRetained);
      return [
        {
          mark: "removed",
          subject,
          name,
          predicate: isKept ? "leaves the program, and stays on the broker" : "is deleted",
        },
      ];
    }
    const parts = [added && `${added} added`, removed && `${removed} removed`].filter((part) => part !== "");
    return [
      { mark: "changed", subject, name, predicate: parts.length > 0 ? parts.join(", ") : countActions(children) },
    ];
  };
}

const verbs: Record<EntityChange["action"], string> = {
  create: "created",
  delete: "deleted",
  replace: "replaced",
  update: "changed",
  same: "unchanged",
};

function countActions(children: EntityChange[]): string {
  const isLetGo = ({ action, isRetained }: EntityChange): boolean => action === "delete" && isRetained;
  const groups: [string, EntityChange[]][] = [
    ...(["create", "replace", "update", "delete"] as const).map((action): [string, EntityChange[]] => [
      verbs[action],
      children.filter((child) => child.action === action && !isLetGo(child)),
    ]),
    ["let go, and kept where it is", children.filter(isLetGo)],
  ];
  return groups
    .filter(([, found]) => found.length > 0)
    .map(([verb, found]) => {
      const kinds = [...new Set(found.map(({ kind }) => kind))];
      return `${found.length} ${kinds.length === 1 ? plural(kinds[0] as string, found.length) : "entities"} ${verb}`;
    })
    .join(", ");
}

function describeOutside(change: EntityChange): ChangeLine[] {
  const { action, kind, type, isRetained } = change;
  if (action === "same") return [];
  const mark: Mark = action === "create" ? "added" : action === "delete" ? "removed" : "changed";
  const isOfBroker = type.startsWith("rabbitmq:") && kind !== "other";
  const subject = isOfBroker ? `${kind} outside the components` : type;
  const predicate = action === "delete" && isRetained ? "leaves the program, and stays" : `is ${verbs[action]}`;
  return [{ mark, subject, name: kind === "component" ? change.name : brokerName(change), predicate }];
}
