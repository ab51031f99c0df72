import { certainlyAppliesTo } from "@rabbitmq-delay/topology/stack";
import { EntityChange, brokerIdentity, isReadable, queueArguments, text } from "../preview/entityChange";
import {
  InForce,
  PolicyTarget,
  PolicyView,
  Side,
  isSurelyFor,
  mayBeFor,
  policiesInForce,
  viewOf,
} from "./policiesInForce";
import { SECRET, isSecretName, withoutSecrets } from "../redact";
import type { Routing } from "./routing";
import type { RuleName } from "./rules";

/** A review's judgement of a policy. */
export interface PolicyJudgement {
  rule: RuleName;
  detail?: string;
}

/** Settings by which a queue drops messages, and what a larger value means. */
const LIMITS = ["message-ttl", "expires", "max-length", "max-length-bytes", "max-age"];
/** From this value on, a delivery limit counts as none: NServiceBus's own; -1 counts as none, too. */
const NO_DELIVERY_LIMIT = 100_000;
/** Settings that keep messages from being dropped: removing them drops messages. */
const KEEPING = ["alternate-exchange", "dead-letter-exchange", "dead-letter-routing-key"];

/** All policies of a preview, with the queues and exchanges that they apply to. */
export class Policies {
  private readonly policies: EntityChange[];
  private readonly entities: EntityChange[];
  /** Policies by their identity on the broker before the update. */
  private readonly earlier = new Map<string | undefined, EntityChange[]>();
  private taken?: Map<EntityChange, PolicyJudgement>;

  /** @param isWhole whether the preview also lists unchanged resources */
  constructor(
    changes: EntityChange[],
    private readonly isWhole: boolean,
    private readonly routing: Pick<Routing, "leadsOn">,
  ) {
    this.policies = changes.filter(({ kind }) => kind === "policy");
    this.entities = changes.filter(({ kind }) => kind === "queue" || kind === "exchange");
    for (const policy of this.policies) {
      const identity = brokerIdentity(policy, "before");
      const same = this.earlier.get(identity);
      if (same === undefined) this.earlier.set(identity, [policy]);
      else same.push(policy);
    }
  }

  /** What becomes of messages by one policy's change; undefined if nothing does. */
  judge(change: EntityChange): PolicyJudgement | undefined {
    const { action, isRetained } = change;
    if (action === "delete") return isRetained ? undefined : this.judgeGone(change);
    const later = viewOf(change, change.after);
    // Declaring a policy under an existing name changes the existing one.
    const earlier = viewOf(change, change.before ?? this.sameOnBroker(change)?.before);
    if (later === undefined || (change.before !== undefined && earlier === undefined))
      return { rule: "policy-unknown" };
    const dropping = drops(earlier, later);
    if (dropping.length > 0) return { rule: "policy-drops", detail: `It says ${dropping.join(", ")}.` };
    if (earlier !== undefined) {
      const lost = keeps(earlier).filter((key) => !isKept(key, earlier, later) && !this.leadsOn(key, later));
      if (lost.length > 0) return { rule: "policy-protection-gone", detail: `It said ${lost.join(", ")}.` };
      const narrowed = isNarrower(earlier, later) ? this.judgeNarrowed(change, earlier, later) : undefined;
      if (narrowed !== undefined) return narrowed;
    }
    const taken = this.judgeDisplaced(change);
    if (taken !== undefined) return taken;
    const changesNothing = action === "update" && change.causes.length === 0;
    return (action === "create" && change.partOf !== undefined) || changesNothing
      ? undefined
      : { rule: "policy-changed" };
  }

  /** Whether another alternate exchange takes each message as well. */
  private leadsOn(saying: string, { vhost, definition }: PolicyView): boolean {
    const alternate = definition["alternate-exchange"];
    return saying.startsWith("alternate-exchange: ") && this.routing.leadsOn(vhost, alternate) === "yes";
  }

  private judgeGone(change: EntityChange): PolicyJudgement {
    const gone = viewOf(change, change.before);
    if (gone === undefined) return { rule: "policy-unknown" };
    const kept = keeps(gone);
    if (kept.length > 0 && !this.leavesWithAll(change, gone)) {
      return { rule: "policy-protection-gone", detail: `It said ${kept.join(", ")}.` };
    }
    return this.judgeDisplaced(change) ?? { rule: "policy-changed" };
  }

  /**
   * Judges what becomes of entities to which a policy no longer applies. A component's own policy is for its own queues and exchanges,
   * which a complete preview lists; for any other policy, nobody knows to what else it applied.
   */
  private judgeNarrowed(change: EntityChange, earlier: PolicyView, later: PolicyView): PolicyJudgement | undefined {
    const said = keeps(earlier);
    if (said.length === 0) return undefined;
    const gone: PolicyJudgement = { rule: "policy-protection-gone", detail: `It said ${said.join(", ")}.` };
    if (change.partOf === undefined || !this.isWhole || !(later.priority >= earlier.priority)) return gone;
    const left = this.entities.filter((entity) => {
      if (entity.before === undefined || !mayBeFor(earlier, targetOf(entity, "before"))) return false;
      return !isSurelyFor(later, targetOf(entity, "before")) && !this.isKeptByOthers(entity, earlier);
    });
    if (left.some(({ action }) => action !== "delete")) return gone;
    const kept = left.filter(({ isRetained }) => isRetained).map(({ kind, before }) => `${kind} ${text(before?.name)}`);
    if (kept.length === 0) return undefined;
    return {
      rule: "policy-changed",
      detail: `It said ${said.join(", ")}, which no longer holds for ${kept.join(", ")}.`,
    };
  }

  /** Whether other policies say the same about an entity after the update, whichever of them applies. */
  private isKeptByOthers(entity: EntityChange, earlier: PolicyView): boolean {
    const { found, isSure } = policiesInForce(this.policies, targetOf(entity, "after"), "after");
    return isSure && found.every(({ view }) => keeps(earlier).every((key) => isKept(key, earlier, view)));
  }

  /** Whether everything that the policy applies to is deleted as well, so that nothing misses it. */
  private leavesWithAll(change: EntityChange, policy: PolicyView): boolean {
    const matched = this.entities.filter(
      (entity) => entity.before !== undefined && mayBeFor(policy, targetOf(entity, "before")),
    );
    const isGone = ({ action, isRetained }: EntityChange): boolean => action === "delete" && !isRetained;
    const isOfOne = matched.every(({ parent }) => parent !== undefined && parent === change.parent);
    return matched.length > 0 && matched.every(isGone) && (this.isWhole || isOfOne);
  }

  private sameOnBroker(change: EntityChange): EntityChange | undefined {
    const identity = brokerIdentity(change, "after");
    return this.earlier.get(identity)?.find((other) => other.urn !== change.urn);
  }

  /**
   * Only one policy applies to each queue or exchange. The settings of another one stop counting when this one takes precedence, and count
   * again when this one is removed. A policy that may apply, as far as can be read, counts as applying.
   */
  private judgeDisplaced(change: EntityChange): PolicyJudgement | undefined {
    this.taken ??= this.judgeAllDisplaced();
    return this.taken.get(change);
  }

  /** For each policy, the first thing that becomes of a queue or exchange; computed for all at once, because there may be thousands. */
  private judgeAllDisplaced(): Map<EntityChange, PolicyJudgement> {
    const taken = new Map<EntityChange, PolicyJudgement>();
    for (const entity of this.entities.filter(({ before, after }) => before !== undefined && after !== undefined)) {
      const [earlier, later] = (["before", "after"] as const).map((side) =>
        policiesInForce(this.policies, targetOf(entity, side), side),
      ) as [InForce, InForce];
      const judgement = judgeTurnover(entity, earlier, later);
      if (judgement === undefined) continue;
      for (const { change } of [...earlier.found, ...later.found]) {
        if (!taken.has(change)) taken.set(change, judgement);
      }
    }
    return taken;
  }
}

/** What becomes of the messages in an entity when other policies apply to it. */
function judgeTurnover(entity: EntityChange, earlier: InForce, later: InForce): PolicyJudgement | undefined {
  const changesOf = ({ found }: InForce): Set<EntityChange> => new Set(found.map(({ change }) => change));
  const [before, after] = [changesOf(earlier), changesOf(later)];
  const fresh = later.found.filter(({ change }) => !before.has(change));
  const mayBeNone = earlier.isSure && !later.isSure;
  const lost = earlier.found.flatMap((policy) => {
    const isOver = mayBeNone && !after.has(policy.change);
    const isLost = (key: string): boolean => isOver || fresh.some(({ view }) => !isKept(key, policy.view, view));
    return keeps(policy.view).filter(isLost);
  });
  const name = text(entity.before?.name);
  if (lost.length > 0) {
    return {
      rule: "policy-protection-gone",
      detail: `For ${entity.kind} ${name} another policy says ${[...new Set(lost)].join(", ")}.`,
    };
  }
  const wasSaid = (setting: string): boolean =>
    earlier.isSure &&
    earlier.found.length > 0 &&
    earlier.found.every(({ view }) => drops(undefined, view).includes(setting));
  const dropping = fresh.flatMap(({ view }) => drops(undefined, view)).filter((setting) => !wasSaid(setting));
  if (dropping.length === 0) return undefined;
  return {
    rule: "policy-drops",
    detail: `For ${entity.kind} ${name} another policy then says ${[...new Set(dropping)].join(", ")}.`,
  };
}

function targetOf(entity: EntityChange, side: Side): PolicyTarget {
  const values = entity[side];
  const { vhost, name } = values ?? {};
  return { vhost, name, ...(entity.kind === "queue" ? { queueArguments: queueArguments(values) } : {}) };
}

/** Settings of `later` by which queues drop messages that they kept under `earlier`, as `key: value`. */
function drops(earlier: PolicyView | undefined, later: PolicyView): string[] {
  const isWider = earlier === undefined || !reachesNoMore(earlier, later);
  return Object.entries(later.definition)
    .filter(([key, value]) => {
      if (!isDropping(key, value)) return false;
      const before = earlier?.definition[key];
      if (isWider || before === undefined) return true;
      return String(before) !== String(value) && !isMore(key, before, value);
    })
    .map(said);
}

function isDropping(key: string, value: unknown): boolean {
  if (LIMITS.includes(key)) return true;
  if (key === "overflow") return !String(value).startsWith("reject-publish");
  if (key === "delivery-limit") return !isLifted(value);
  if (key === "dead-letter-strategy") return value !== "at-least-once";
  return key.startsWith("dead-letter-");
}

/** Whether the new limit is higher, so that it drops no more than the old one. */
function isMore(key: string, before: unknown, after: unknown): boolean {
  return (
    [...LIMITS.slice(0, 4), "delivery-limit"].includes(key) && Number(after) >= Number(before) && Number(before) >= 0
  );
}

function isLifted(value: unknown): boolean {
  const limit = value === "" ? NaN : Number(value);
  return limit === -1 || limit >= NO_DELIVERY_LIMIT;
}

/** Settings that keep messages which would be dropped otherwise. */
function keeps({ definition }: PolicyView): string[] {
  return Object.entries(definition)
    .filter(
      ([key, value]) =>
        KEEPING.includes(key) ||
        (key === "delivery-limit" && isLifted(value)) ||
        (key === "overflow" && String(value).startsWith("reject-publish")) ||
        (key === "dead-letter-strategy" && value === "at-least-once"),
    )
    .map(said);
}

function said([key, value]: [string, unknown]): string {
  return `${key}: ${isSecretName(key) ? SECRET : withoutSecrets(String(value))}`;
}

function isKept(saying: string, earlier: PolicyView, later: PolicyView | undefined): boolean {
  const [key = ""] = saying.split(": ");
  const [before, after] = [earlier.definition[key], later?.definition[key]];
  if (key === "delivery-limit") return isLifted(after);
  return after !== undefined && String(before) === String(after);
}

/** Whether `later` surely applies to no more than `earlier` did, and takes precedence no more often. */
function reachesNoMore(earlier: PolicyView, later: PolicyView): boolean {
  return (
    earlier.vhost === later.vhost &&
    (isSame(earlier.pattern, later.pattern) || isOneOf(later.pattern, earlier.pattern)) &&
    (isSame(earlier.applyTo, later.applyTo) || earlier.applyTo === "all") &&
    later.priority <= earlier.priority
  );
}

/** Two secret texts need not be the same. */
function isSame(one: string, other: string): boolean {
  return one === other && isReadable(one);
}

/** Whether `later` may apply to less than `earlier` did, or take precedence less often. */
function isNarrower(earlier: PolicyView, later: PolicyView): boolean {
  return (
    earlier.vhost !== later.vhost ||
    !isSame(earlier.pattern, later.pattern) ||
    (!isSame(earlier.applyTo, later.applyTo) && later.applyTo !== "all") ||
    !(later.priority >= earlier.priority)
  );
}

/** Whether a pattern matches a single name, which the other pattern matches, too. */
function isOneOf(pattern: string, other: string): boolean {
  const literal = /^\^((?:[\w-]|\\[^\w])+)\$$/.exec(pattern)?.[1]?.replace(/\\(.)/g, "$1");
  return literal !== undefined && certainlyAppliesTo({ pattern: other, applyTo: "all", definition: {} }, literal);
}
