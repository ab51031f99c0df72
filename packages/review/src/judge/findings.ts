import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { EntityChange, brokerIdentity, brokerName, showName } from "../preview/entityChange";
import { networkEnds } from "../preview/networkEnds";
import { mayShareBroker } from "../preview/planBroker";
import type { Preview } from "../preview/preview";
import { LeftOut, bindingsLeftOut } from "./bindingsLeftOut";
import { Same, judge, judgeOtherProvider, metadataOf } from "./changeFindings";
import { Clash, clashesOf } from "./clashes";
import { DeadEnd, Told, deadEnds } from "./deadEnds";
import { Finding, find } from "./finding";
import { MissingTarget, OnBroker, missingTargets } from "./missingTargets";
import { Policies } from "./policyFindings";
import { Routing } from "./routing";
import { RuleName, rules } from "./rules";
import { Shortcut, shortcutsOf } from "./shortcuts";
import { Limited, unlimitedQueues } from "./unlimitedQueues";

/**
 * Everything in a preview that somebody should know before applying it.
 * @param onBroker what no resource of the plan declares, if a broker was asked
 * @param isAccepted whether somebody lets the dangers of a resource pass
 */
export function findingsOf(
  preview: Preview,
  changes: EntityChange[],
  onBroker: OnBroker = { entities: [], vhosts: new Set() },
  isAccepted: (change: EntityChange) => boolean = () => false,
): Finding[] {
  const isOneBroker = mayShareBroker(changes);
  const created = changes.filter(({ action }) => action === "create");
  const staying = changes.filter(({ action }) => action !== "delete");
  const common = {
    created,
    existingAs: sameAmong(changes, "before", isOneBroker),
    stayingAs: sameAmong(staying, "after", isOneBroker),
    namespaces: new Set(
      changes
        .filter(({ partOf }) => partOf === "RabbitMqCluster")
        .flatMap(({ before, after }) => [before, after].map((values) => metadataOf(values).namespace))
        .filter((namespace) => typeof namespace === "string"),
    ),
  };
  const perBroker = brokersOf(changes, onBroker, isOneBroker).flatMap(({ own, beside, found }) => {
    const all = [...beside, ...found.entities];
    const routing = new Routing(all, preview.hasSames, found.vhosts);
    const policies = new Policies(all, preview.hasSames, routing, found);
    const isOwn = ({ change }: { change: EntityChange }): boolean => own.has(change);
    const alone = [...own].flatMap((change) => judge(change, { ...common, routing, policies }));
    const urnsOf = (some: Finding[]): Set<string> => new Set(some.map(({ urn }) => urn));
    const lost = urnsOf(alone.filter(({ severity, queue }) => severity === "loss" && queue === undefined));
    const warned = urnsOf(alone.filter(({ severity }) => severity !== "note"));
    const told: Told = {
      isTold: ({ urn }) => warned.has(urn),
      isLost: ({ urn }) => lost.has(urn),
      isAccepted,
    };
    const isKnown = preview.hasSames || found.vhosts.size > 0;
    const ways = isKnown ? deadEnds(all, found.vhosts, told) : { ends: [], early: [] };
    const ends = ways.ends.filter(isOwn);
    const dead = new Map(ends.filter(({ isSure }) => isSure).map(({ change, detail }) => [change.urn, detail]));
    const isWorse = ({ rule, urn }: Finding): boolean => WAYS.includes(rule) && dead.has(urn);
    const worse = new Set(alone.filter(isWorse).map(({ urn }) => urn));
    return [
      // A way that was followed tells more than such a finding.
      ...alone.map((finding) =>
        isWorse(finding) ? { ...finding, severity: "loss" as const, detail: dead.get(finding.urn) } : finding,
      ),
      ...ends.filter(({ change }) => !worse.has(change.urn)).map(findDeadEnd),
      ...ways.early.filter(isOwn).map(({ change, detail }) => find("way-early", change, detail)),
      ...clashesOf(beside, preview.isWhole).filter(isOwn).map(findDeliveredTwice),
      ...shortcutsOf(beside).filter(isOwn).map(findShortcut),
      ...missingTargets(beside, found).filter(isOwn).map(findMissingTarget),
      ...unlimitedQueues(all, found.version).filter(isOwn).map(findUnlimited),
    ];
  });
  return [
    ...perBroker,
    ...changes.flatMap(judgeOtherProvider),
    ...bindingsLeftOut(changes).map(findLeftOut),
    ...shapeChanges(changes),
    ...preview.warnings.map(findWarning),
    ...preview.otherWarnings.map((message) => findMessage("other-warned", message)),
    ...preview.errors.map((message) => findMessage("preview-failed", message)),
  ];
}

/** The changes of one provider, with all that is, or may be, on the same broker. */
interface OneBroker {
  own: ReadonlySet<EntityChange>;
  beside: EntityChange[];
  found: OnBroker;
}

/** Changes by their providers: what stands on one broker says nothing of another one, even under the same names. */
function brokersOf(
  changes: EntityChange[],
  onBroker: OnBroker,
  isOneBroker: (one: EntityChange, other: EntityChange) => boolean,
): OneBroker[] {
  const groups = new Map<string, EntityChange[]>();
  for (const change of changes) {
    const { provider, otherProvider } = change;
    const key = isOnBroker(change) ? JSON.stringify([provider, otherProvider]) : "";
    const same = groups.get(key);
    if (same === undefined) groups.set(key, [change]);
    else same.push(change);
  }
  return [...groups].map(([key, own]) => {
    const [first] = own as [EntityChange, ...EntityChange[]];
    const isElsewhere = key !== "" && onBroker.isElsewhere?.(first.urn) === true;
    return {
      own: new Set(own),
      beside: key === "" ? changes : changes.filter((other) => !isOnBroker(other) || isOneBroker(first, other)),
      found: isElsewhere ? { entities: [], vhosts: new Set() } : onBroker,
    };
  });
}

function isOnBroker({ type }: EntityChange): boolean {
  return type.startsWith("rabbitmq:");
}

/**
 * Returns a function that finds the resource among some that is the same entity of the same broker, as far as can be read, as a given one.
 * @param side which of their values count
 */
function sameAmong(
  some: EntityChange[],
  side: "before" | "after",
  isOneBroker: (one: EntityChange, other: EntityChange) => boolean,
): Same {
  const byName = new Map<string, EntityChange[]>();
  for (const other of some) {
    const identity = brokerIdentity(other, side);
    if (identity !== undefined) byName.set(identity, [...(byName.get(identity) ?? []), other]);
  }
  return (change, of) => {
    const identity = brokerIdentity(change, of);
    const same = identity === undefined ? [] : (byName.get(identity) ?? []);
    return same.find((other) => other !== change && isOneBroker(other, change));
  };
}

/** Finds a network of another shape under the same component, which shows in its name. */
function shapeChanges(changes: EntityChange[]): Finding[] {
  const deliveries = networkEnds(changes);
  return deliveries.flatMap((gone): Finding[] => {
    const successor = deliveries.find((other) => other.action === "create" && other.parent === gone.parent);
    if (gone.action !== "delete" || gone.parent === undefined || successor === undefined) return [];
    const detail = gone.isRetained
      ? "The old network stays on the broker, but its endpoints are bound to the new one: what waits in the old one is parked when it is due, or lost without parking."
      : "The old network is deleted.";
    return [
      {
        ...find("network-changed", gone, detail),
        urn: gone.parent,
        entity: `network ${networkOfDelivery(brokerName(gone))?.prefix}`,
      },
    ];
  });
}

function findDeliveredTwice({ change, found, unsure }: Clash): Finding {
  const { destination, destinationType } = change.after as Record<string, unknown>;
  return {
    ...find("delivered-twice", change),
    entity: `${String(destinationType)} ${showName(destination)}`,
    found,
    ...(unsure === undefined ? {} : { unsure }),
  };
}

function findLeftOut({ change, detail }: LeftOut): Finding {
  return { ...find("bindings-left-out", change, detail), causes: [], queue: undefined };
}

function findShortcut({ change, detail }: Shortcut): Finding {
  return { ...find("way-shortened", change), found: detail };
}

/** Rules of what leaves messages without one way, of several. */
const WAYS: RuleName[] = ["binding-gone", "endpoint-unbound"];

function findDeadEnd({ change, detail, isSure }: DeadEnd): Finding {
  return { ...find(isSure ? "unroutable-lost" : "way-in-doubt", change, detail), queue: undefined };
}

function findMissingTarget({ change, detail, isSure }: MissingTarget): Finding {
  return { ...find(isSure ? "target-missing" : "target-unknown", change, detail), causes: [], queue: undefined };
}

function findUnlimited({ change, detail }: Limited): Finding {
  return { ...find("limit-despite-argument", change, detail), queue: undefined };
}

/** What the program says of the broker's own faults stands in each of its previews. */
function findWarning(message: string): Finding {
  return findMessage(
    /\band allow: \[[\w-]+\] silences this$/.test(message) ? "broker-fault" : "program-warned",
    message,
  );
}

function findMessage(rule: RuleName, message: string): Finding {
  return { rule, severity: rules[rule].severity, urn: "", entity: message, causes: [] };
}
