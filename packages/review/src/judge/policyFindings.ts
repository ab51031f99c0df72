import { EntityChange, brokerIdentity, queueArguments, text } from "../preview/entityChange";
import { DeliveryLimits } from "./deliveryLimits";
import { OnBroker, exchangeFinder } from "./missingTargets";
import {
  InForce,
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
import { isNarrower, literalOf, reachesNoMore } from "./policyReach";
import {
  DEAD_LETTERS,
  LENGTHS,
  Place,
  Said,
  dropsMore,
  hasLength,
  isKept,
  isWithoutLength,
  keeps,
  keyOf,
  mayHaveDeadLetters,
  mayHoldDeadLetters,
  onTarget,
  withLimits,
  withTypeOf,
} from "./policySettings";
import { PolicySteps } from "./policySteps";
import { turnsOf } from "./policyTurns";
import type { Routing } from "./routing";
import type { RuleName } from "./rules";

/** A review's judgement of a policy. */
export interface PolicyJudgement {
  rule: RuleName;
  detail?: string;
}

const MEANWHILE =
  "That is so only while the update runs: first declare the policy that is to apply, by an update of its own.";

/** Policies of one kind that apply to an entity: before the update, after it, and between two of its steps. */
interface States {
  earlier: InForce;
  later: InForce;
  between: InForce[];
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
    private readonly found: Pick<OnBroker, "isKnown" | "typeOf" | "version"> = {},
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
    const [only] = this.queuesOf(later).map(({ before, after: values }) => queueArguments(before ?? values));
    const dropping = drops(earlier, later, this.limits, only);
    // Nothing waits in a new queue; whether the broker has that queue already, nobody has looked.
    if (dropping.length > 0 && earlier === undefined && this.isForNew(later)) return { rule: "policy-changed" };
    if (dropping.length > 0) return { rule: "policy-drops", detail: `It says ${dropping.join(", ")}.` };
    if (earlier !== undefined) {
      const lost = this.losesOf(earlier, later).filter((key) => !this.leadsOn(key, later));
      if (lost.length > 0) return { rule: "policy-protection-gone", detail: `It said ${lost.join(", ")}.` };
      const narrowed = isNarrower(earlier, later, only) ? this.judgeNarrowed(change, earlier, later) : undefined;
      if (narrowed !== undefined) return narrowed;
    }
    return this.judgeDisplaced(change) ?? this.changed(change);
  }

  /** Whether the broker has listed all queues, exchanges and policies of the vhost of a change. */
  private isListed(change: EntityChange): boolean {
    return this.found.isKnown?.(change) === true;
  }

  /** Whether a policy is for one queue alone, which the update creates. */
  private isForNew(view: PolicyView): boolean {
    const same = this.queuesOf(view);
    return same.length > 0 && same.every(({ action, isImport }) => action === "create" && !isImport);
  }

  /** Returns the resources of the only queue to which a policy may apply; none if it may apply to more, or if the plan lacks the queue. */
  private queuesOf({ vhost, pattern }: PolicyView): EntityChange[] {
    const name = literalOf(pattern);
    return this.entities.filter((entity) => {
      const values = entity.before ?? entity.after;
      return entity.kind === "queue" && values?.name === name && values?.vhost === vhost;
    });
  }

  /** What a policy says to keep messages, and no longer says; an overflow goes with the last length that it is for. */
  private losesOf(earlier: PolicyView, later: PolicyView | undefined): string[] {
    return keeps(earlier, this.limits).filter(
      (saying) => !isKept(saying, earlier, later, this.limits) && !this.isMoot(saying, earlier, later),
    );
  }

  private isMoot(saying: string, earlier: PolicyView, later: PolicyView | undefined): boolean {
    if (!saying.startsWith("overflow: ") || later?.definition.overflow !== undefined) return false;
    if (!hasLength(earlier.definition) || hasLength(later?.definition ?? {}) || mayHoldDeadLetters(earlier))
      return false;
    return !this.entities.some((entity) => {
      const target = this.targetOf(entity, "before");
      if (entity.before === undefined || !mayBeFor(earlier, target)) return false;
      return this.isLimitedElsewhere(target) || mayHoldDeadLetters(earlier, target.queueArguments);
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
      if (entity.before === undefined || !mayBeFor(earlier, this.targetOf(entity, "before"))) return false;
      return !isSurelyFor(later, this.targetOf(entity, "before")) && !this.isKeptByOthers(entity, earlier);
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
    const { found, isSure } = policiesInForce(
      this.policies,
      this.targetOf(entity, "after"),
      "after",
      earlier.isOperators,
    );
    const said = keeps(earlier, this.limits);
    return isSure && found.every(({ view }) => said.every((key) => isKept(key, earlier, view, this.limits)));
  }

  /** Whether everything that the policy applies to is deleted as well, so that nothing misses it. */
  private leavesWithAll(change: EntityChange, policy: PolicyView): boolean {
    const matched = this.entities.filter(
      (entity) => entity.before !== undefined && mayBeFor(policy, this.targetOf(entity, "before")),
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
        const after = withTypeOf(place, this.targetOf(entity, "after"));
        for (const { change } of [...earlier.found, ...later.found]) {
          if (taken.has(change)) continue;
          const judgement =
            this.judgeTurnover(change, place, earlier, later, after) ??
            this.judgeMeanwhile(change, place, earlier, between);
          if (judgement !== undefined) taken.set(change, judgement);
        }
      }
    }
    return taken;
  }

  private targetOf(entity: EntityChange, side: Side): PolicyTarget {
    const values = staysThere(entity) ? (entity[side] ?? entity.before) : entity[side];
    const { vhost, name } = values ?? {};
    if (entity.kind !== "queue") return { vhost, name };
    // The program may leave the type out; a queue that is declared anew may get another type.
    const isSame = side === "before" || entity.action !== "replace";
    const type = isSame ? this.found.typeOf?.(values) : undefined;
    return {
      vhost,
      name,
      queueArguments: { ...(type === undefined ? {} : { "x-queue-type": type }), ...queueArguments(values) },
    };
  }

  private statesOf(entity: EntityChange, isOperators: boolean): States {
    const [earlier, later] = (["before", "after"] as const).map((side) =>
      policiesInForce(this.policies, this.targetOf(entity, side), side, isOperators),
    ) as [InForce, InForce];
    const isAny = earlier.found.length + later.found.length > 0;
    return { earlier, later, between: isAny ? this.steps.between(this.targetOf(entity, "before"), isOperators) : [] };
  }

  /** Returns an entity beside the policies of the kind that is not judged; what these say is not known unless all are listed. */
  private placeOf(entity: EntityChange, { earlier, later, between }: States): Place {
    const target = this.targetOf(entity, "before");
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
    after = place,
  ): PolicyJudgement | undefined {
    const turns = turnsOf(earlier, later, place, after);
    const lost = turns.flatMap(({ from, to }) => {
      const said = onTarget(from?.view, place);
      const ofPolicy = keeps(said, this.limits, place).filter(
        (saying) => keyOf(saying) in (from?.view.definition ?? {}),
      );
      return ofPolicy.filter(
        (saying) =>
          !isKept(saying, said, onTarget(to?.view, place), this.limits, after) &&
          !(to !== undefined && this.leadsOn(saying, to.view)) &&
          !(
            isWithoutLength(saying, to?.view) &&
            !this.isLimitedElsewhere(place) &&
            !mayHoldDeadLetters(said, place.queueArguments)
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
    const dropping = turns.flatMap(({ from, to }) => {
      const [said, says] = [onTarget(from?.view, place), onTarget(to?.view, place)];
      const drops = dropsMore(said, says, this.limits, place).filter((one) => !this.isNewWay(one, said, says, place));
      return drops.map((setting) => ({ setting, to }));
    });
    const says = [...new Set(dropping.map(({ setting }) => setting))].join(", ");
    if (says === "") return undefined;
    return {
      rule: "policy-drops",
      detail: turns.some(({ to }) => to?.change === change)
        ? `It says ${says} for ${place.label}.`
        : `For ${place.label} ${dropping.some(({ to }) => to !== undefined) ? "another policy" : "an argument"} then says ${says}.`,
    };
  }
}

/** Whether a queue or an exchange was there before the update, and is there after it. */
function staysThere({ before, after, action, isRetained }: EntityChange): boolean {
  return before !== undefined && (after !== undefined || (action === "delete" && isRetained));
}

/** Settings of `later` by which queues drop messages that they kept under `earlier`, as `key: value`. */
function drops(
  earlier: PolicyView | undefined,
  later: PolicyView,
  limits: DeliveryLimits,
  only?: Record<string, unknown>,
): string[] {
  return dropsMore(earlier !== undefined && reachesNoMore(earlier, later, only) ? earlier : undefined, later, limits);
}
