import { certainlyAppliesTo } from "@rabbitmq-delay/topology/stack";
import { EntityChange, brokerIdentity, isReadable, queueArguments, text } from "../preview/entityChange";
import { DeliveryLimits } from "./deliveryLimits";
import { OnBroker, exchangeFinder } from "./missingTargets";
import {
  InForce,
  PolicyInForce,
  PolicyTarget,
  PolicyView,
  Side,
  isSurelyFor,
  mayBeFor,
  policiesInForce,
  valuesOn,
  viewOf,
  viewOn,
} from "./policiesInForce";
import { PolicySteps } from "./policySteps";
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
const ALTERNATE = "alternate-exchange";
const DELIVERY_LIMIT = "delivery-limit";
/** Limits of which a queue heeds the lowest that an argument, a policy or an operator policy gives. */
const LOWEST = LIMITS.slice(0, 4);
/** Settings that an overflow is for. */
const LENGTHS = ["max-length", "max-length-bytes"];
const DEAD_LETTERS = "dead-letter-exchange";
/** What a queue does unless an argument or a policy says otherwise. */
const DEFAULTS: Record<string, unknown> = { overflow: "drop-head", "dead-letter-strategy": "at-most-once" };
/** Units of an age, in seconds. */
const AGES: Record<string, number> = { s: 1, m: 60, h: 3600, D: 86_400, M: 30 * 86_400, Y: 365 * 86_400 };
/** Settings that keep messages from being dropped: removing them drops messages. */
const KEEPING = ["alternate-exchange", DEAD_LETTERS, "dead-letter-routing-key"];

const MEANWHILE =
  "That is so only while the update runs: first declare the policy that is to apply, by an update of its own.";

type Said = Pick<PolicyView, "definition">;

/** Policies of one kind that apply to an entity: before the update, after it, and between two of its steps. */
interface States {
  earlier: InForce;
  later: InForce;
  between: InForce[];
}

/** A queue or an exchange for which policies of one kind are judged. */
interface Place extends PolicyTarget {
  /** Kind and name, in words. */
  label: string;
  /** Settings that policies of the other kind may give; undefined where that is not known. */
  others?: ReadonlySet<string>;
}

/** All policies of a preview, with the queues and exchanges that they apply to. */
export class Policies {
  private readonly policies: EntityChange[];
  private readonly entities: EntityChange[];
  private readonly steps: PolicySteps;
  private readonly limits: DeliveryLimits;
  private readonly isThere: ReturnType<typeof exchangeFinder>;
  /** Policies by their identity on the broker before the update. */
  private readonly earlier = new Map<string | undefined, EntityChange[]>();
  private taken?: Map<EntityChange, PolicyJudgement>;

  /**
   * @param isWhole whether the preview also lists unchanged resources
   * @param found what the broker was asked for
   */
  constructor(
    changes: EntityChange[],
    private readonly isWhole: boolean,
    private readonly routing: Pick<Routing, "leadsOn">,
    private readonly found: Pick<OnBroker, "isKnown" | "version"> = {},
  ) {
    this.limits = new DeliveryLimits(found.version);
    this.policies = changes.filter(({ kind }) => kind === "policy");
    this.isThere = exchangeFinder(changes);
    this.entities = changes.filter(({ kind }) => kind === "queue" || kind === "exchange");
    this.steps = new PolicySteps(changes, this.policies);
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
    const own = valuesOn(change, "before");
    // Declaring a policy under an existing name changes the existing one.
    const earlier = viewOf(change, own ?? this.sameOnBroker(change)?.before);
    if (later === undefined || (own !== undefined && earlier === undefined)) return { rule: "policy-unknown" };
    if (this.isListed(change)) {
      const taken = [change, this.sameOnBroker(change)].map((one) => one && this.judgeDisplaced(one));
      return taken.find((one) => one !== undefined) ?? this.changed(change);
    }
    const dropping = drops(earlier, later, this.limits);
    // Nothing waits in a new queue; whether the broker has that queue already, nobody has looked.
    if (dropping.length > 0 && earlier === undefined && this.isForNew(later)) return { rule: "policy-changed" };
    if (dropping.length > 0) return { rule: "policy-drops", detail: `It says ${dropping.join(", ")}.` };
    if (earlier !== undefined) {
      const lost = this.losesOf(earlier, later).filter((key) => !this.leadsOn(key, later));
      if (lost.length > 0) return { rule: "policy-protection-gone", detail: `It said ${lost.join(", ")}.` };
      const narrowed = isNarrower(earlier, later) ? this.judgeNarrowed(change, earlier, later) : undefined;
      if (narrowed !== undefined) return narrowed;
    }
    return this.judgeDisplaced(change) ?? this.changed(change);
  }

  /** Whether the broker has listed all queues, exchanges and policies of the vhost of a change. */
  private isListed(change: EntityChange): boolean {
    return this.found.isKnown?.(change) === true;
  }

  /** Whether a policy is for one queue alone, which the update creates. */
  private isForNew({ vhost, pattern }: PolicyView): boolean {
    const name = literalOf(pattern);
    const same = this.entities.filter((entity) => {
      const values = entity.before ?? entity.after;
      return entity.kind === "queue" && values?.name === name && values?.vhost === vhost;
    });
    return same.length > 0 && same.every(({ action, isImport }) => action === "create" && !isImport);
  }

  /** What a policy says to keep messages, and no longer says; an overflow goes with the last length that it is for. */
  private losesOf(earlier: PolicyView, later: PolicyView | undefined): string[] {
    return keeps(earlier, this.limits).filter(
      (saying) => !isKept(saying, earlier, later, this.limits) && !this.isMoot(saying, earlier, later),
    );
  }

  private isMoot(saying: string, earlier: PolicyView, later: PolicyView | undefined): boolean {
    if (!saying.startsWith("overflow: ") || later?.definition.overflow !== undefined) return false;
    if (!hasLength(earlier.definition) || hasLength(later?.definition ?? {})) return false;
    return !this.entities.some((entity) => {
      const target = targetOf(entity, "before");
      return entity.before !== undefined && mayBeFor(earlier, target) && this.isLimitedElsewhere(target);
    });
  }

  /** Whether something else than a policy limits the length of a queue: an argument, or an operator policy. */
  private isLimitedElsewhere(target: PolicyTarget): boolean {
    if (LENGTHS.some((key) => `x-${key}` in (target.queueArguments ?? {}))) return true;
    return this.policies.some((policy) =>
      (["before", "after"] as const).some((side) => {
        const view = viewOn(policy, side);
        return view?.isOperators === true && hasLength(view.definition) && mayBeFor(view, target);
      }),
    );
  }

  /** What is left to say of a policy by which no message is lost. */
  private changed({ action, causes, partOf }: EntityChange): PolicyJudgement | undefined {
    const changesNothing = action === "update" && causes.length === 0;
    return (action === "create" && partOf !== undefined) || changesNothing ? undefined : { rule: "policy-changed" };
  }

  /** Whether another alternate exchange takes each message as well. */
  private leadsOn(saying: string, { vhost, definition }: PolicyView): boolean {
    const alternate = definition["alternate-exchange"];
    return saying.startsWith("alternate-exchange: ") && this.routing.leadsOn(vhost, alternate) === "yes";
  }

  /** Whether dead letters, which had no way, are led to an exchange that is there. */
  private isNewWay(saying: string, earlier: Said, { definition }: Said, place: Place): boolean {
    if (!/^dead-letter-(exchange|routing-key): /.test(saying) || place.others === undefined) return false;
    return !mayHaveDeadLetters(earlier, place) && this.isThere(place.vhost, definition[DEAD_LETTERS]);
  }

  private judgeGone(change: EntityChange): PolicyJudgement {
    const values = valuesOn(change, "before");
    // Deleting a policy that the broker does not have changes nothing there.
    if (values === undefined && change.live !== undefined) return { rule: "policy-changed" };
    const gone = viewOf(change, values);
    if (gone === undefined) return { rule: "policy-unknown" };
    if (this.isListed(change)) return this.judgeDisplaced(change) ?? { rule: "policy-changed" };
    const kept = this.losesOf(gone, undefined);
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
    const said = this.losesOf(earlier, undefined);
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
    const { found, isSure } = policiesInForce(this.policies, targetOf(entity, "after"), "after", earlier.isOperators);
    const said = keeps(earlier, this.limits);
    return isSure && found.every(({ view }) => said.every((key) => isKept(key, earlier, view, this.limits)));
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
    return this.earlier.get(identity)?.find((other) => other !== change);
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
    for (const entity of this.entities.filter(staysThere)) {
      const kinds = [false, true].map((isOperators) => this.statesOf(entity, isOperators));
      for (const [index, { earlier, later, between }] of kinds.entries()) {
        const place = this.placeOf(entity, kinds[1 - index] as States);
        for (const { change } of [...earlier.found, ...later.found]) {
          if (taken.has(change)) continue;
          const judgement =
            this.judgeTurnover(change, place, earlier, later) ?? this.judgeMeanwhile(change, place, earlier, between);
          if (judgement !== undefined) taken.set(change, judgement);
        }
      }
    }
    return taken;
  }

  private statesOf(entity: EntityChange, isOperators: boolean): States {
    const [earlier, later] = (["before", "after"] as const).map((side) =>
      policiesInForce(this.policies, targetOf(entity, side), side, isOperators),
    ) as [InForce, InForce];
    const isAny = earlier.found.length + later.found.length > 0;
    return { earlier, later, between: isAny ? this.steps.between(targetOf(entity, "before"), isOperators) : [] };
  }

  /** Returns an entity beside the policies of the kind that is not judged; what these say is not known unless all are listed. */
  private placeOf(entity: EntityChange, { earlier, later, between }: States): Place {
    const target = targetOf(entity, "before");
    const place = { ...target, label: `${entity.kind} ${text(entity.before?.name)}` };
    return this.isListed(entity) ? withLimits(place, [earlier, later, ...between]) : place;
  }

  /** Judges the states of an entity between two steps of the update. */
  private judgeMeanwhile(
    change: EntityChange,
    place: Place,
    earlier: InForce,
    between: InForce[],
  ): PolicyJudgement | undefined {
    for (const state of between) {
      const judgement = this.judgeTurnover(change, place, earlier, state);
      if (judgement !== undefined) return { ...judgement, detail: `${judgement.detail} ${MEANWHILE}` };
    }
    return undefined;
  }

  /** What becomes of the messages in an entity when other policies apply to it, or say something else. */
  private judgeTurnover(
    change: EntityChange,
    place: Place,
    earlier: InForce,
    later: InForce,
  ): PolicyJudgement | undefined {
    const fresh = later.found.filter((one) => !earlier.found.some((other) => isUnchanged(other, one)));
    const isOver = ({ change: own }: PolicyInForce): boolean =>
      !later.isSure && !later.found.some((one) => one.change === own);
    const lost = earlier.found.flatMap((policy) => {
      const followers = [...fresh.map(({ view }) => view), ...(isOver(policy) ? [undefined] : [])];
      const said = onTarget(policy.view, place);
      return keeps(said, this.limits, place).filter((saying) =>
        followers.some(
          (view) =>
            !isKept(saying, said, onTarget(view, place), this.limits, place) &&
            !(view !== undefined && this.leadsOn(saying, view)) &&
            !(isWithoutLength(saying, view) && !this.isLimitedElsewhere(place)),
        ),
      );
    });
    if (lost.length > 0) {
      const isOwn = earlier.found.some((one) => one.change === change);
      const said = [...new Set(lost)].join(", ");
      return {
        rule: "policy-protection-gone",
        detail: isOwn ? `It said ${said} for ${place.label}.` : `For ${place.label} another policy says ${said}.`,
      };
    }
    const dropsAfter = (before: PolicyView | undefined, after: PolicyView | undefined): string[] => {
      const [said, says] = [onTarget(before, place), onTarget(after, place)];
      return dropsMore(said, says, this.limits, place).filter((one) => !this.isNewWay(one, said, says, place));
    };
    const dropping = fresh.flatMap((policy) => {
      const own = earlier.found.filter((one) => one.change === policy.change && isAlike(one.view, policy.view));
      const before: (PolicyView | undefined)[] = (own.length > 0 ? own : earlier.found).map(({ view }) => view);
      if (own.length === 0 && !earlier.isSure) before.push(undefined);
      return before.flatMap((view) => dropsAfter(view, policy.view));
    });
    const exposed = earlier.found.filter(isOver).flatMap(({ view }) => dropsAfter(view, undefined));
    const says = [...new Set([...dropping, ...exposed])].join(", ");
    if (says === "") return undefined;
    return {
      rule: "policy-drops",
      detail: fresh.some((one) => one.change === change)
        ? `It says ${says} for ${place.label}.`
        : `For ${place.label} ${dropping.length > 0 ? "another policy" : "an argument"} then says ${says}.`,
    };
  }
}

/** Whether a policy is the same before and after the update. */
function isUnchanged(one: PolicyInForce, other: PolicyInForce): boolean {
  return one.change === other.change && JSON.stringify(one.view) === JSON.stringify(other.view);
}

/** Whether two versions of a policy apply to the same, with the same precedence. */
function isAlike(one: PolicyView, other: PolicyView): boolean {
  return (
    one.vhost === other.vhost &&
    isSame(one.pattern, other.pattern) &&
    isSame(one.applyTo, other.applyTo) &&
    one.priority === other.priority
  );
}

function hasLength(definition: Record<string, unknown>): boolean {
  return LENGTHS.some((key) => key in definition);
}

/** Whether a saying is an overflow, and nothing is said any more of what it is for. */
function isWithoutLength(saying: string, later: PolicyView | undefined): boolean {
  return saying.startsWith("overflow: ") && !hasLength(later?.definition ?? {});
}

/** Whether a queue or an exchange was there before the update, and is there after it. */
function staysThere({ before, after, action, isRetained }: EntityChange): boolean {
  return before !== undefined && (after !== undefined || (action === "delete" && isRetained));
}

function targetOf(entity: EntityChange, side: Side): PolicyTarget {
  const values = staysThere(entity) ? (entity[side] ?? entity.before) : entity[side];
  const { vhost, name } = values ?? {};
  return { vhost, name, ...(entity.kind === "queue" ? { queueArguments: queueArguments(values) } : {}) };
}

/** Whether a policy's limits count instead of the queue's own. Measured on RabbitMQ 3.10.8 and 4.3.6. */
function isStream(given: Record<string, unknown> | undefined): boolean {
  return given?.["x-queue-type"] === "stream";
}

/**
 * Settings that a policy, or none, gives one entity. An exchange has an alternate exchange alone. The lower of a policy's and an argument's limit
 * counts, of a stream's the policy's, and of all other settings the argument.
 */
function onTarget(view: PolicyView | undefined, { queueArguments: given }: PolicyTarget): Said {
  const said = Object.entries(view?.definition ?? {}).filter(([key]) => (key === ALTERNATE) === (given === undefined));
  const own = (key: string): unknown => given?.[`x-${key}`];
  const limits = LIMITS.filter((key) => own(key) !== undefined);
  const isOwn = (key: string): boolean => own(key) !== undefined && !limits.includes(key) && key !== DELIVERY_LIMIT;
  const definition = Object.fromEntries(said.filter(([key]) => !isOwn(key)));
  for (const key of limits) {
    // A limit that can't be read is neither higher nor lower.
    const isLower = !isStream(given) && isMore(key, own(key), definition[key]);
    if (definition[key] === undefined || isLower) definition[key] = own(key);
  }
  return { definition };
}

/**
 * Adds limits that policies of the other kind give a queue in all states of the update: these count as an argument does. A queue may have
 * less than the highest of them, and not more.
 */
function withLimits(place: Place, others: InForce[]): Place {
  const said = others.flatMap(({ found, isSure }) => [
    ...found.map(({ view }) => view.definition),
    ...(isSure ? [] : [{} as Said["definition"]]),
  ]);
  const given = { ...place.queueArguments };
  for (const key of LOWEST) {
    const limit = Math.max(...said.map((definition) => amountOf(key, definition[key])));
    if (isStream(given) && said.some((definition) => key in definition)) given[`x-${key}`] = limit;
    else if (!Number.isNaN(limit) && !isMore(key, given[`x-${key}`], limit)) given[`x-${key}`] = limit;
  }
  if (said.some((definition) => DELIVERY_LIMIT in definition)) {
    const own = given[`x-${DELIVERY_LIMIT}`];
    const counts = [...said.map((definition) => definition[DELIVERY_LIMIT]), ...(own === undefined ? [] : [own])];
    // Without any limit, the broker's default counts: a limit that is not the same throughout can't be told.
    given[`x-${DELIVERY_LIMIT}`] = new Set(counts.map(String)).size === 1 ? counts[0] : "";
  }
  const settings = { ...place, others: new Set(said.flatMap((definition) => Object.keys(definition))) };
  return place.queueArguments === undefined ? settings : { ...settings, queueArguments: given };
}

/** Settings of `later` by which queues drop messages that they kept under `earlier`, as `key: value`. */
function drops(earlier: PolicyView | undefined, later: PolicyView, limits: DeliveryLimits): string[] {
  return dropsMore(earlier !== undefined && reachesNoMore(earlier, later) ? earlier : undefined, later, limits);
}

/** The same for one queue, to which `earlier` applied. */
function dropsMore(earlier: Said | undefined, later: Said, limits: DeliveryLimits, target?: Place): string[] {
  return Object.entries(later.definition)
    .filter(([key, value]) => {
      if (key === DELIVERY_LIMIT)
        return limits.isLower(earlier?.definition ?? {}, later.definition, target?.queueArguments);
      if (!isDropping(key, value)) return false;
      const before = earlier?.definition[key] ?? (target?.others?.has(key) === false ? DEFAULTS[key] : undefined);
      if (before === undefined) return true;
      return String(before) !== String(value) && !isMore(key, before, value);
    })
    .map(said);
}

function isDropping(key: string, value: unknown): boolean {
  if (LIMITS.includes(key)) return true;
  if (key === "overflow") return !String(value).startsWith("reject-publish");
  if (key === "dead-letter-strategy") return value !== "at-least-once";
  return key.startsWith("dead-letter-");
}

/** Whether the new limit is as high or higher, so that it drops no more than the old one. */
function isMore(key: string, before: unknown, after: unknown): boolean {
  return LIMITS.includes(key) && amountOf(key, after) >= amountOf(key, before);
}

/** A limit as a number; NaN where it can't be read. */
function amountOf(key: string, value: unknown): number {
  const [, digits, unit = ""] = /^(\d+)(\D?)$/.exec(String(value)) ?? [];
  const units: Record<string, number> = key === "max-age" ? AGES : { "": 1 };
  return Number(digits) * (units[unit] ?? NaN);
}

/** Settings that keep messages which would be dropped otherwise. */
function keeps({ definition }: Said, limits: DeliveryLimits, target?: PolicyTarget): string[] {
  return Object.entries(definition)
    .filter(
      ([key, value]) =>
        KEEPING.includes(key) ||
        (key === DELIVERY_LIMIT && limits.isLower(definition, {}, target?.queueArguments)) ||
        (key === "overflow" && String(value).startsWith("reject-publish")) ||
        (key === "dead-letter-strategy" && value === "at-least-once"),
    )
    .map(said);
}

function said([key, value]: [string, unknown]): string {
  return `${key}: ${isSecretName(key) ? SECRET : withoutSecrets(String(value))}`;
}

function isKept(
  saying: string,
  earlier: Said,
  later: Said | undefined,
  limits: DeliveryLimits,
  target?: Place,
): boolean {
  const [key = ""] = saying.split(": ");
  const [before, after] = [earlier.definition[key], later?.definition[key]];
  if (key === DELIVERY_LIMIT)
    return !limits.isLower(earlier.definition, later?.definition ?? {}, target?.queueArguments);
  const isRefusing = [before, after].every((value) => /^reject-publish(-dlx)?$/.test(String(value)));
  // A classic queue refuses the same messages; a quorum queue does not support the setting with -dlx.
  if (key === "overflow" && isRefusing && target?.queueArguments?.["x-queue-type"] === "classic")
    return after === "reject-publish-dlx" || before === "reject-publish" || !mayHaveDeadLetters(earlier, target);
  return after !== undefined && String(before) === String(after);
}

/** Whether a queue may have a dead-letter exchange: by a policy, by a policy of the other kind, or by an argument. */
function mayHaveDeadLetters({ definition }: Said, { queueArguments, others }: Place): boolean {
  if (others?.has(DEAD_LETTERS) !== false) return true;
  return definition[DEAD_LETTERS] !== undefined || queueArguments?.[`x-${DEAD_LETTERS}`] !== undefined;
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
  const literal = literalOf(pattern);
  return literal !== undefined && certainlyAppliesTo({ pattern: other, applyTo: "all", definition: {} }, literal);
}

/** The single name that a pattern matches; undefined where it may match more. */
function literalOf(pattern: string): string | undefined {
  return /^\^((?:[\w-]|\\[^\w])+)\$$/.exec(pattern)?.[1]?.replace(/\\(.)/g, "$1");
}
