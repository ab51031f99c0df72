import { BindingPlan } from "@rabbitmq-delay/topology";
import { AuditFinding, namePair, patternsOverlap } from "@rabbitmq-delay/topology/stack";
import { VhostOnBroker, networksOn } from "./brokerFindings";

/** A binding at the exchange that a network's endpoints are bound to, as it is compared with others. */
interface Bound {
  binding: BindingPlan;
  /** Its place among them. */
  order: number;
  /** The destination it is for: its key without the words for the digits. */
  name: string;
  /** The first and the last word of that name; undefined for a wildcard, which may be any word. */
  first?: string;
  last?: string;
  /** Whether the name is a single destination, not a pattern. */
  isLiteral: boolean;
  /** Whether its key begins with one word for each digit. */
  isExact: boolean;
  /** 0: one destination; 1: a pattern with `*`; 2: a pattern with `#`. If two overlap, the wider one is reported. */
  width: number;
}

/** How many names a finding lists. */
const MOST_NAMED = 5;

/**
 * Finds bindings at the ends of networks that take messages which also go elsewhere.
 * @param declared destinations that are compared with the bindings elsewhere
 * @param allow pairs of destinations, or of queues or exchanges, that may be mixed up, see `namePair`
 */
export function auditCollisions(
  found: Pick<VhostOnBroker, "bindings" | "exchanges" | "queues">,
  declared: readonly string[] = [],
  allow: readonly string[] = [],
): AuditFinding[] {
  return collisionsIn(found, declared, allow).map(({ finding }) => finding);
}

/** The same, each with the binding that takes the messages. */
export function collisionsIn(
  { bindings, exchanges, queues }: Pick<VhostOnBroker, "bindings" | "exchanges" | "queues">,
  declared: readonly string[] = [],
  allow: readonly string[] = [],
): { finding: AuditFinding; binding: BindingPlan }[] {
  const [isDeclared, allowed] = [new Set(declared), new Set(allow)];
  return networksOn({ exchanges, queues }).flatMap(({ bindingExchange, levels }) => {
    const bound = bindings
      .filter(({ source }) => source === bindingExchange)
      .map((binding, order) => boundBy(binding, order, levels));
    const comparable = new Comparable(bound, levels);
    return bound
      .filter(({ width, name }) => width > 1 || !isDeclared.has(name))
      .flatMap((taker) => {
        const caught = comparable
          .findCaught(taker)
          .filter(({ name }) => !isDeclared.has(name))
          .filter((other) => !isAllowed(taker, other, allowed));
        return caught.length === 0 ? [] : [{ finding: collision(taker, caught, levels), binding: taker.binding }];
      });
  });
}

function boundBy(binding: BindingPlan, order: number, levels: number): Bound {
  const { routingKey } = binding;
  const digits = "*.".repeat(levels);
  const isExact = routingKey.startsWith(digits) && routingKey.length > digits.length;
  const name = isExact ? routingKey.slice(digits.length) : routingKey.replace(/^#\./, "");
  const words = name.split(".");
  const isLiteral = (isExact || name !== routingKey) && !words.includes("*") && !words.includes("#");
  const width = routingKey.split(".").includes("#") ? 2 : isLiteral ? 0 : 1;
  const [first, last] = [words[0], words.at(-1)].map((word) => (word === "*" || word === "#" ? undefined : word));
  return { binding, order, name, first, last, isLiteral, isExact, width };
}

function collision({ binding, name, isLiteral, width }: Bound, caught: Bound[], levels: number): AuditFinding {
  const { source, destination, destinationType, routingKey } = binding;
  const names = joinTexts(caught.map((other) => other.name));
  const others = joinTexts(caught.map((other) => `${other.binding.destinationType} ${other.binding.destination}`));
  const isMended = isLiteral && width > 1 && caught.every((other) => other.isLiteral && other.name !== name);
  const remedy = isMended
    ? `too; unbind it and bind ${"*.".repeat(levels)}${name}, or give the destinations other names`
    : `too, as ${others} may: a message for both is handled twice; unbind one of them, or give them names and patterns apart`;
  const message = `is bound to ${source} with ${routingKey}, and so gets what is for ${names} ${remedy}`;
  return { rule: "collision", severity: "error", subject: `${destinationType} ${destination}`, message };
}

function joinTexts(texts: string[]): string {
  const different = [...new Set(texts)];
  const more = different.length - MOST_NAMED;
  return different.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function isAllowed(one: Bound, other: Bound, allowed: ReadonlySet<string>): boolean {
  if (allowed.size === 0) return false;
  const pairs = [
    [one.name, other.name],
    [one.binding.destination, other.binding.destination],
  ] as [string, string][];
  return pairs.some(([first, second]) => allowed.has(namePair(first, second)) || allowed.has(namePair(second, first)));
}

/** Finds overlapping bindings without comparing each with each: bindings for one destination are found by its last words. */
class Comparable {
  private readonly byName = new Map<string, Bound[]>();
  private readonly byEnd = new Map<string, Bound[]>();
  private readonly patterns: Bound[] = [];

  constructor(
    private readonly bound: Bound[],
    private readonly levels: number,
  ) {
    for (const one of bound) {
      if (!one.isLiteral) {
        this.patterns.push(one);
        continue;
      }
      push(this.byName, one.name, one);
      for (let dot = one.name.indexOf("."); dot >= 0; dot = one.name.indexOf(".", dot + 1))
        push(this.byEnd, one.name.slice(dot + 1), one);
    }
  }

  /** Other destinations' bindings that take some of the same messages, and are no wider. */
  findCaught(taker: Bound): Bound[] {
    const { name, isLiteral, width } = taker;
    const isOthers = (other: Bound): boolean =>
      other.binding.destination !== taker.binding.destination && isWider(taker, other);
    const overlapping = (others: Bound[]): Bound[] =>
      others.filter((other) => isOthers(other) && this.overlap(taker, other));
    if (!isLiteral) return overlapping(this.bound);
    const longer = width > 1 ? (this.byEnd.get(name) ?? []) : [];
    return [...[...(this.byName.get(name) ?? []), ...longer].filter(isOthers), ...overlapping(this.patterns)];
  }

  /**
   * Whether two bindings overlap. Digits are not words of a name, so a key that begins with words for them is compared with digits in their
   * place.
   */
  private overlap(one: Bound, other: Bound): boolean {
    if (differ(one.last, other.last)) return false;
    if (one.isExact && other.isExact) return !differ(one.first, other.first) && patternsOverlap(one.name, other.name);
    return patternsOverlap(this.keyOf(one, other), this.keyOf(other, one));
  }

  private keyOf({ binding, isExact, name }: Bound, against: Bound): string {
    if (!isExact) return binding.routingKey;
    const words = against.binding.routingKey.split(".");
    // A `#` takes the remaining digits, which are all the same.
    const digits = words.includes("#") ? Math.min(this.levels, words.length) : this.levels;
    return `${"0.".repeat(digits)}${name}`;
  }
}

function push(lists: Map<string, Bound[]>, key: string, value: Bound): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Whether two words in the same place can never belong to the same message. */
function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Whether the first of two overlapping bindings is the one to report; of two equally wide ones, it is the shorter or the later one. */
function isWider(one: Bound, other: Bound): boolean {
  if (one.width !== other.width) return one.width > other.width;
  if (one.name.length !== other.name.length) return one.name.length < other.name.length;
  return one.order > other.order;
}
