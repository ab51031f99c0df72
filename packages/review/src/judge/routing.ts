import { networkOfDelivery, resourceRule, topicMatches } from "@rabbitmq-delay/topology/stack";
import {
  EntityChange,
  bindingArguments,
  bindingIdentity,
  brokerName,
  isAutoDelete,
  isMissing,
  isReadable,
  isRenamed,
  queueArguments,
  text,
} from "../preview/entityChange";
import { PolicyView, mayBeFor, policiesFor, policiesInForce, viewOn } from "./policiesInForce";
import { nameOf, typeOf } from "../preview/urn";
import { isAt, takesBindingsAlong } from "./bindingsLeftOut";
import { waitsForConfirm } from "./confirms";
import { mayTake } from "./taking";
import { Ways } from "./ways";

const ALTERNATE = "alternate-exchange";
const DEAD_LETTERS = "x-dead-letter-exchange";
const KEY = "x-dead-letter-routing-key";

const ENDS = ["vhost", "source", "destination"] as const;

/** What becomes of messages that an exchange can't route. */
export type Unroutable = "parked" | "held" | "dropped" | "lost" | "unknown";

/** A queue, or a policy's queues, whose dead letters go to an exchange. */
interface Feeder {
  change: EntityChange;
  /** Whether it waits for the confirm, so that nothing is lost in between. */
  isSafe: boolean;
  /** The key by which they go, if the queue or its policy gives one. */
  key?: unknown;
}

/** What a preview tells about the broker as it is before the update, and about the policies that it will have. */
export class Routing {
  private readonly feeders = new Map<string, Feeder[]>();
  private readonly policies: EntityChange[];
  private readonly exchanges: EntityChange[];
  private readonly bindings: EntityChange[];
  /** Bindings that stay as they are, or are new, by their ends. */
  private readonly lasting = new Map<string, EntityChange[]>();
  /** Bindings of queues that exist before the update deletes anything, by all but their queues. */
  private readonly early = new Map<string, EntityChange[]>();
  private readonly deleted: Set<string>;
  private readonly leaving: Set<string>;
  /** Queues whose new side, of another name, comes before the old one goes. */
  private readonly renamed: Set<string>;
  private readonly replaced: EntityChange[];
  /** Ways of messages during the whole update, once the new bindings are there. */
  private lastingWays?: Ways;
  /** Feeders whose dead letters come to no other queue by these, by their exchanges. */
  private readonly unrouted = new Map<string, Feeder[]>();

  /**
   * @param changes of all resources that the preview lists
   * @param isWhole whether the preview also lists the unchanged ones
   * @param asked vhosts that the broker was asked about, so that `changes` has all their exchanges and bindings
   */
  constructor(
    private readonly changes: EntityChange[],
    private readonly isWhole: boolean,
    private readonly asked: ReadonlySet<string> = new Set(),
  ) {
    const policies = changes.filter(({ kind }) => kind === "policy");
    // An alternate exchange that the broker has otherwise than the state has a finding of its own.
    this.policies = policies.map((change) => ({ ...change, live: undefined }));
    this.exchanges = changes.filter(({ kind }) => kind === "exchange");
    this.bindings = changes.filter(({ kind }) => kind === "binding");
    const lasting = this.bindings.filter(
      (binding) => binding.action === "create" || (binding.action === "same" && !isMissing(binding)),
    );
    for (const binding of lasting) {
      const ends = endsOf(binding.after);
      this.lasting.set(ends, [...(this.lasting.get(ends) ?? []), binding]);
    }
    for (const binding of this.bindings.filter(isMadeEarly)) {
      const way = wayOf(binding.after);
      if (way !== undefined) this.early.set(way, [...(this.early.get(way) ?? []), binding]);
    }
    const queues = changes.filter(({ kind }) => kind === "queue");
    for (const change of queues) this.addQueue(change, policies);
    for (const policy of policies) this.addPolicy(policy, queues);
    const keysOf = (some: EntityChange[]): Set<string> =>
      new Set(some.map(({ kind, before }) => nameKey(kind, before?.vhost, before?.name)));
    this.deleted = keysOf(changes.filter(isGone));
    this.replaced = changes.filter((change) => change.action === "replace" && takesBindingsAlong(change));
    this.leaving = keysOf(changes.filter(({ action }) => action === "delete"));
    this.renamed = keysOf(queues.filter((change) => isMadeEarly(change) && isRenamed(change)));
  }

  /** Tells the fate of a message for which an exchange has no binding without this one, once the update has begun. */
  unroutable(binding: EntityChange): Unroutable {
    const vhost = binding.before?.vhost;
    const exchange = String(binding.before?.source);
    const parking = this.parking(vhost, exchange, binding.dependencies);
    if (parking === "yes") return "parked";
    const feeders = this.feedersOf(binding, vhost, exchange);
    if (losing(feeders) !== undefined) return "lost";
    if (feeders.length > 0) return "held";
    if (this.goesAndLeavesRouted(vhost, exchange)) return "dropped";
    if (this.isPublishedToAlone(vhost, exchange)) return "dropped";
    return parking === "no" && this.isWhole ? "lost" : "unknown";
  }

  /** Whether an exchange deletes itself with its last binding, and alternate exchanges then take what other exchanges led to it. */
  private goesAndLeavesRouted(vhost: unknown, exchange: string): boolean {
    const own = this.exchanges.find(({ after }) => after?.vhost === vhost && after?.name === exchange);
    if (!isAutoDelete(own?.after)) return false;
    const staying = this.bindings.filter(({ after }) => after?.vhost === vhost);
    const isBound = this.bindings.some(({ before, after, isRetained }) =>
      [after, isRetained ? before : undefined].some((one) => one?.vhost === vhost && one?.source === exchange),
    );
    if (isBound) return false;
    const leading = staying.filter(
      ({ after }) => after?.destinationType === "exchange" && after.destination === exchange,
    );
    return (
      leading.length > 0 &&
      leading.every(({ after, dependencies }) => this.parking(vhost, String(after?.source), dependencies) === "yes")
    );
  }

  /** Returns feeders of an exchange whose dead letters come to no other queue without a binding, or may come to none during the update. */
  private feedersOf(binding: EntityChange, vhost: unknown, exchange: string): Feeder[] {
    const id = keyOf(vhost, exchange);
    const all = this.feeders.get(id) ?? [];
    const isLast = binding.action === "delete" || binding.isDeletedFirst === false;
    // An entity that is replaced takes its bindings along before new ones come.
    const isEarly = !isLast || this.replaced.some((change) => isAt(binding.before, change));
    if (isEarly || this.policies.some(({ action }) => action !== "same")) return all;
    const known = this.unrouted.get(id) ?? all.filter((feeder) => !this.staysRouted(vhost, exchange, feeder));
    this.unrouted.set(id, known);
    return known;
  }

  /** Whether a queue's dead letters come to another queue at each moment of the update. */
  private staysRouted(vhost: unknown, exchange: string, { change, key }: Feeder): boolean {
    if (!isReadable(key) || !isReadable(vhost)) return false;
    this.lastingWays ??= new Ways(
      this.changes.filter(
        ({ kind, action, isDeletedFirst }) => action !== "replace" || (kind === "binding" && isDeletedFirst === false),
      ),
      "after",
      this.asked,
    );
    const met = { changes: new Set<EntityChange>(), queues: new Set<string>(), doubts: [] };
    const end = this.lastingWays.follow({ vhost, exchange, key }, met);
    return end === "queue" && [...met.queues].some((name) => name !== change.before?.name);
  }

  /** Whether the broker has nothing that passes messages on to an exchange that is nobody's network. */
  private isPublishedToAlone(vhost: unknown, exchange: string): boolean {
    const isLedTo = (values: Record<string, unknown> | undefined): boolean =>
      values?.vhost === vhost && values?.destinationType === "exchange" && values.destination === exchange;
    return (
      this.asked.has(String(vhost)) &&
      networkOfDelivery(exchange) === undefined &&
      this.alternateOf(vhost, exchange) === undefined &&
      !this.bindings.some(({ before, after }) => isLedTo(before) || isLedTo(after))
    );
  }

  /** A queue or policy that stays, and dead-letters to `exchange` without waiting for its confirm, in words. */
  losingFeeder(vhost: unknown, exchange: string): string | undefined {
    return losing(this.feeders.get(keyOf(vhost, exchange)) ?? []);
  }

  /** What stays, and dead-letters to a queue by the default exchange without waiting for its confirm, in words. */
  feederOfQueue(vhost: unknown, queue: unknown): string | undefined {
    if (!isReadable(queue)) return undefined;
    // Without a key of its own, a queue passes each message on by that message's key, to any queue. If each queue counted, each deletion would
    // be a loss: the keys of its bindings tell which ones count.
    const passing = (this.feeders.get(keyOf(vhost, "")) ?? []).filter(({ change }) => this.mayGet(change, queue));
    return losing([...(this.feeders.get(keyOf(vhost, toQueue(queue))) ?? []), ...passing]);
  }

  /**
   * Whether bindings lead messages with a key to a queue, or may do so. Of others' queues, only a key tells that: all keys come to many of them.
   */
  private mayGet({ urn, before }: EntityChange, key: string): boolean {
    const ways = this.bindings
      .flatMap((change) => [change.before, change.after])
      .filter(
        (values) =>
          values?.destinationType === "queue" && values.vhost === before?.vhost && values.destination === before?.name,
      );
    if (urn === "")
      return ways.some((values) => values?.routingKey !== "#" && topicMatches(text(values?.routingKey), key));
    // Bindings that a service made itself show on the broker alone.
    if (ways.length === 0) return !this.asked.has(String(before?.vhost));
    return ways.some((values) => mayTake(this.typeOf(values?.vhost, values?.source), values?.routingKey, key));
  }

  /** Whether its own component leads messages on from an exchange, which others do from one that is delivered to. */
  isLedOn({ parent, before }: EntityChange): boolean {
    return this.bindings.some(
      (binding) =>
        binding.parent === parent && binding.before?.vhost === before?.vhost && binding.before?.source === before?.name,
    );
  }

  /**
   * The entity that has `exchange` as its alternate exchange and stays, in words: messages that it can't route are lost without the
   * alternate exchange.
   */
  alternateOf(vhost: unknown, exchange: string): string | undefined {
    const names = (found: unknown): boolean => found === exchange;
    const holder = this.exchanges.find(
      (change) =>
        !isGone(change) &&
        (change.after ?? change.before)?.vhost === vhost &&
        names(queueArguments(change.after ?? change.before)[ALTERNATE]),
    );
    if (holder !== undefined) return `exchange ${brokerName(holder)}`;
    const policy = this.policies.find((change) => {
      const view = viewOn(change, "after");
      if (view?.vhost !== vhost || !names(view?.definition[ALTERNATE])) return false;
      const matched = this.exchanges.filter(({ before, after }) =>
        mayBeFor(view as PolicyView, { vhost: (before ?? after)?.vhost, name: (before ?? after)?.name }),
      );
      return matched.length === 0 || !matched.every(isGone);
    });
    return policy === undefined ? undefined : `policy ${brokerName(policy)}`;
  }

  private addQueue(change: EntityChange, policies: EntityChange[]): void {
    const { before } = change;
    if (before === undefined) return;
    const values = queueArguments(before);
    const { [DEAD_LETTERS]: exchange, [KEY]: key } = values;
    const target = { vhost: before.vhost, name: before.name, queueArguments: values };
    const { found, isSure } = policiesInForce(policies, target, "after");
    const operators = policiesFor(policies, target, "after", true).map(({ view }) => view.definition);
    const definitions = [...found.map(({ view }) => view.definition), ...(isSure ? [] : [{}])];
    // An argument takes precedence over a policy; without one, the policy says where dead letters go.
    for (const definition of definitions as Record<string, unknown>[]) {
      const { "dead-letter-exchange": to, "dead-letter-routing-key": by } = definition;
      const isSafe = waitsForConfirm(values, definition, operators);
      this.addFeeder(before.vhost, targetOf(exchange ?? to, key ?? by), { change, isSafe, key: key ?? by });
    }
  }

  /** A policy that matches none of the plan's queues may match queues that the plan doesn't know. */
  private addPolicy(change: EntityChange, queues: EntityChange[]): void {
    const view = viewOn(change, "after");
    const { "dead-letter-exchange": exchange } = view?.definition ?? {};
    // All queues of a vhost are known once the broker was asked about it.
    if (view === undefined || exchange === undefined || this.asked.has(String(view.vhost))) return;
    const isKnown = queues.some(({ before, after }) => {
      const { vhost, name } = before ?? after ?? {};
      return mayBeFor(view, { vhost, name, queueArguments: queueArguments(before ?? after) });
    });
    // Nobody knows the type of such queues.
    if (!isKnown) this.addFeeder(view.vhost, exchange, { change, isSafe: false });
  }

  private addFeeder(vhost: unknown, exchange: unknown, feeder: Feeder): void {
    if (typeof exchange !== "string") return;
    const key = keyOf(vhost, exchange);
    const same = this.feeders.get(key);
    if (same === undefined) this.feeders.set(key, [feeder]);
    else same.push(feeder);
  }

  /** Whether messages that `exchange` can't route are kept: by its own argument, or by the one policy that applies to it. */
  private parking(vhost: unknown, exchange: string, dependencies: string[]): "yes" | "no" | "unknown" {
    const own = this.exchanges.find(({ before }) => before?.vhost === vhost && before?.name === exchange);
    const argument = queueArguments(own?.before)[ALTERNATE];
    if (argument !== undefined) return this.keeps(vhost, exchange, argument);
    const target = { vhost, name: exchange };
    const [before, after] = [
      policiesInForce(this.policies, target, "before"),
      policiesInForce(this.policies, target, "after"),
    ];
    const kept = [...before.found, ...after.found].map(({ view }) =>
      this.keeps(vhost, exchange, view.definition[ALTERNATE]),
    );
    if (after.isSure && kept.every((one) => one === "yes")) return "yes";
    if (after.isSure && !kept.includes("no")) return "unknown";
    const all = [...policiesFor(this.policies, target, "before"), ...policiesFor(this.policies, target, "after")];
    if (all.some(({ view }) => view.definition[ALTERNATE] !== undefined)) return "no";
    if (all.length === 0 && dependsOnParking(exchange, dependencies)) return "yes";
    return this.isWhole ? "no" : "unknown";
  }

  /** Whether an alternate exchange keeps what an exchange can't route: a network's own parking does, and one that leads on. */
  private keeps(vhost: unknown, exchange: string, alternate: unknown): "yes" | "no" | "unknown" {
    if (alternate === undefined) return "no";
    const isParking = alternate === networkOfDelivery(exchange)?.parkingExchange;
    return isParking && !this.isDeleted("exchange", vhost, alternate) ? "yes" : this.leadsOn(vhost, alternate);
  }

  /** Whether an exchange, after the update, leads each message that comes to it into a queue. */
  leadsOn(vhost: unknown, exchange: unknown, seen: ReadonlySet<unknown> = new Set()): "yes" | "no" | "unknown" {
    if (this.isDeleted("exchange", vhost, exchange) || seen.has(exchange)) return "no";
    const own = this.exchanges
      .map(({ before, after }) => after ?? before)
      .find((values) => values?.vhost === vhost && values?.name === exchange);
    const ways = this.bindings.flatMap((change) => {
      const values = isGone(change) || isMissing(change) ? {} : (change.after ?? change.before ?? {});
      const { source, destination, destinationType, routingKey } = values;
      if (values.vhost !== vhost || source !== exchange) return [];
      if (this.isDeleted(destinationType, vhost, destination)) return [];
      const isQueue = destinationType === "queue";
      const end = isQueue ? "yes" : this.leadsOn(vhost, destination, new Set([...seen, exchange]));
      return end === "no" ? [] : [{ end, routingKey }];
    });
    const type = (own?.settings as { type?: unknown } | undefined)?.type;
    // Another type takes what its bindings' keys or arguments let through.
    const isWhole = ({ end, routingKey }: (typeof ways)[number]): boolean =>
      end === "yes" && (type === "fanout" || (type === "topic" && routingKey === "#"));
    if (ways.length > 0) return ways.some(isWhole) ? "yes" : "unknown";
    const isKnown = this.asked.has(String(vhost)) || (own !== undefined && this.isWhole);
    return isKnown ? "no" : "unknown";
  }

  /**
   * Whether each message of a binding is routed to the same end by another one: by its new side, which comes first, by one that stays, or by a
   * new one, because the engine deletes at the end of an update. A queue that takes the place of the old one is the same end.
   */
  isCovered(change: EntityChange): boolean {
    const { action, isDeletedFirst, before, after } = change;
    if (action === "replace" && isDeletedFirst === false && this.covers(after, before)) return true;
    const others = this.lasting.get(endsOf(before)) ?? [];
    return (
      others.some((one) => (action === "delete" || one.action === "same") && this.covers(one.after, before)) ||
      this.isMoved(change)
    );
  }

  /** Whether a queue that goes at the end of the update has a successor, which is bound in the same way before that. */
  private isMoved(change: EntityChange): boolean {
    const { action, before } = change;
    const way = wayOf(before);
    const queue = nameKey("queue", before?.vhost, before?.destination);
    if (way === undefined || !(action === "delete" || isMadeEarly(change))) return false;
    if (!this.leaving.has(queue) && !this.renamed.has(queue)) return false;
    const type = this.typeOf(before?.vhost, before?.source);
    return (
      ["direct", "fanout", "headers", "topic"].includes(String(type)) &&
      (this.early.get(way) ?? []).some(({ after }) => !this.isDeleted("queue", after?.vhost, after?.destination))
    );
  }

  /** Whether a binding routes each message that another one does, to the same end. */
  private covers(after: Record<string, unknown> | undefined, before: Record<string, unknown> | undefined): boolean {
    if (before === undefined || after === undefined) return false;
    // Two secrets may differ.
    if (ENDS.some((end) => !isReadable(before[end]) || before[end] !== after[end])) return false;
    if (before.destinationType !== after.destinationType && !this.isOneQueue(before)) return false;
    const { vhost, source } = before;
    const type = this.typeOf(vhost, source);
    const [from, to] = [before.routingKey ?? "", after.routingKey ?? ""];
    const [had, has] = [bindingArguments(before), bindingArguments(after)];
    if (type === "fanout") return true;
    if (type === "topic") return isReadableKey(from) && isReadableKey(to) && coversPattern(to, from);
    if (had === undefined || has === undefined) return false;
    const keys = Object.keys(had).filter((key) => key !== "x-match");
    // Without a header to compare, x-match: all matches each message, and any none.
    const isKept = keys.length > 0 && keys.every((key) => !key.startsWith("x-") && had[key] === has[key]);
    return type === "headers" && has["x-match"] === "any" && isKept;
  }

  /**
   * Whether a queue gets the same messages by the exchange of its name, to which nothing else is bound, as without it.
   * @param before the binding that ends; if it leads to the queue itself, the exchange has to take each message of it
   */
  private isOneQueue(before: Record<string, unknown>): boolean {
    const { vhost, destination, destinationType, routingKey = "" } = before;
    const ways = this.bindings
      .flatMap(({ before, after }) => [before, after])
      .filter((values) => values?.vhost === vhost && values?.source === destination);
    const isAlone =
      ways.length > 0 &&
      ways.every((values) => values?.destinationType === "queue" && values.destination === destination);
    if (!isAlone || destinationType !== "queue") return isAlone;
    const [from, to] = [this.typeOf(vhost, before.source), this.typeOf(vhost, destination)];
    const lasting = this.lasting.get(endsOf({ vhost, source: destination, destination })) ?? [];
    return lasting.some(({ after }) => {
      const key = after?.routingKey ?? "";
      if (to === "fanout" || (to === "topic" && key === "#")) return true;
      if (!isReadableKey(key) || !isReadableKey(routingKey)) return false;
      if (to === "topic") return (from === "topic" || from === "direct") && coversPattern(key, routingKey);
      return to === "direct" && from === "direct" && key === routingKey;
    });
  }

  /** The type of an exchange; undefined if no resource declares it. */
  private typeOf(vhost: unknown, name: unknown): unknown {
    const { before, after } =
      this.exchanges.find((one) =>
        [one.before, one.after].some((values) => values?.vhost === vhost && values?.name === name),
      ) ?? {};
    return ((before ?? after)?.settings as { type?: unknown } | undefined)?.type;
  }

  /** Whether an end of a binding leaves the program as well, kept or not. */
  leaves(binding: Record<string, unknown> | undefined): boolean {
    const { vhost, source, destination, destinationType } = binding ?? {};
    return (
      this.leaving.has(nameKey("exchange", vhost, source)) ||
      this.leaving.has(nameKey(destinationType, vhost, destination))
    );
  }

  /** Whether an entity of that name is deleted, and the broker does not keep it. */
  isDeleted(kind: unknown, vhost: unknown, name: unknown): boolean {
    return isReadable(name) && this.deleted.has(nameKey(kind, vhost, name));
  }
}

/** The first of some feeders that stays and does not wait for a confirm, in words. */
function losing(feeders: Feeder[]): string | undefined {
  const feeder = feeders.find(({ change, isSafe }) => !isSafe && !isGone(change));
  return feeder === undefined ? undefined : `${feeder.change.kind} ${brokerName(feeder.change)}`;
}

/** Where dead letters go: the exchange, or the queue of that name behind the default exchange. */
function targetOf(exchange: unknown, key: unknown): unknown {
  return exchange === "" && typeof key === "string" ? toQueue(key) : exchange;
}

/** No exchange has such a name. */
function toQueue(name: string): string {
  return `\0${name}`;
}

function endsOf(binding: Record<string, unknown> = {}): string {
  return JSON.stringify(ENDS.map((end) => binding[end]));
}

/** Identity of a queue's binding without the queue; undefined if a part of the binding can't be read. */
function wayOf(binding: Record<string, unknown> | undefined): string | undefined {
  if (binding?.destinationType !== "queue" || !isReadable(binding.destination)) return undefined;
  return bindingIdentity({ ...binding, destination: "queue" });
}

/** Whether the new side of a change is created before the update deletes what it replaces, and what leaves the program. */
function isMadeEarly({ action, isDeletedFirst }: EntityChange): boolean {
  return action === "create" || (action === "replace" && isDeletedFirst === false);
}

function isReadableKey(key: unknown): key is string {
  return key === "" || isReadable(key);
}

/** Whether each key that matches `other` matches `pattern` too; false where that takes more than a look at their words. */
function coversPattern(pattern: string, other: string): boolean {
  if (pattern === other || pattern === "#") return true;
  return !other.split(".").includes("#") && topicMatches(pattern, other);
}

function nameKey(kind: unknown, vhost: unknown, name: unknown): string {
  return JSON.stringify([kind, vhost, name]);
}

function keyOf(vhost: unknown, exchange: string): string {
  return JSON.stringify([vhost, exchange]);
}

function isGone({ action, isRetained }: EntityChange): boolean {
  return action === "delete" && !isRetained;
}

/** Whether the unbound entity was declared after the policy that parks messages which the network's delivery exchange can't route. */
function dependsOnParking(exchange: string, dependencies: string[]): boolean {
  const parking = networkOfDelivery(exchange)?.parkingExchange;
  if (parking === undefined) return false;
  return dependencies.some(
    (urn) => resourceRule(typeOf(urn))?.kind === "policy" && nameOf(urn).endsWith(`-${parking}`),
  );
}
