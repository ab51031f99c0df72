import { DelayTopologyError } from "../errors";

/** Whether a topic exchange routes `routingKey` to a binding with `pattern`: `*` is one word, `#` any number of words. */
export function topicMatches(pattern: string, routingKey: string): boolean {
  return /[*#]/.test(pattern) ? overlap(wordsOf(pattern), wordsOf(routingKey), false) : pattern === routingKey;
}

/** Whether some routing key matches both patterns, so that a message could go to both bindings. */
export function patternsOverlap(one: string, other: string): boolean {
  return overlap(wordsOf(one), wordsOf(other), true);
}

/** The broker takes an empty text as no word at all, but empty words between dots as words. */
function wordsOf(text: string): string[] {
  return text === "" ? [] : text.split(".");
}

/** Walks two word lists at once; `both` says that wildcards count in the second list too. Quadratic in the number of words. */
function overlap(one: string[], other: string[], both: boolean): boolean {
  const isHash = (words: string[], index: number): boolean => words[index] === "#" && (words === one || both);
  const isStar = (words: string[], index: number): boolean => words[index] === "*" && (words === one || both);
  // reached[j]: the first i words of `one` and the first j of `other` can stand for the same key
  let reached: boolean[] = [];
  for (let i = 0; i <= one.length; i++) {
    const row: boolean[] = [];
    for (let j = 0; j <= other.length; j++) {
      const start = i === 0 && j === 0;
      const hashOne = i > 0 && isHash(one, i - 1) && (reached[j] || (j > 0 && row[j - 1]));
      const hashOther = j > 0 && isHash(other, j - 1) && (row[j - 1] || (i > 0 && reached[j]));
      const word =
        i > 0 &&
        j > 0 &&
        reached[j - 1] &&
        !isHash(one, i - 1) &&
        !isHash(other, j - 1) &&
        (isStar(one, i - 1) || isStar(other, j - 1) || one[i - 1] === other[j - 1]);
      row.push(Boolean(start || hashOne || hashOther || word));
    }
    reached = row;
  }
  return reached[other.length] ?? false;
}

/** One binding at a delivery exchange, for the comparison with others. */
export interface BoundPattern {
  /** The endpoint's name. */
  endpoint: string;
  /** The pattern as the service wrote it, for the message. */
  pattern: string;
  /** The binding key at the delivery exchange. */
  bindingKey: string;
  /**
   * The key by which the clients of the network's vendor bind the pattern too, whatever the network's matching: NServiceBus
   * before each delayed send, Celery when a worker starts. Undefined for a network that no vendor's client knows.
   */
  clientKey?: string;
}

/** How a config names two patterns that may be mixed up: `Sales with Europe.Sales`, in this order or the other one. */
export const NAME_PAIR = /^\S.* with .*\S$/s;

/** Two patterns as a config names them, see {@link NAME_PAIR}. */
export function namePair(one: string, other: string): string {
  return `${one} with ${other}`;
}

/**
 * Throws when a message for one endpoint could also reach another.
 * @param allow pairs of patterns that may be mixed up by a vendor's clients, see {@link namePair}
 * @throws DelayTopologyError naming both endpoints
 */
export function checkEndpointsApart(bound: readonly BoundPattern[], allow: readonly string[] = []): void {
  new BoundPatterns().add(bound, allow);
}

/**
 * The patterns bound so far, to which more can be added without comparing each with each: literal patterns of equal arity
 * clash only when they are equal.
 */
export class BoundPatterns {
  private readonly literal = new Map<string, BoundPattern>();
  private readonly wild: BoundPattern[] = [];
  private readonly clients = new ClientPatterns();

  /**
   * Adds patterns in their order.
   * @param allow pairs of patterns that may be mixed up by a vendor's clients, see {@link namePair}
   * @throws DelayTopologyError naming both endpoints, when a message for one could also reach the other
   */
  add(bound: readonly BoundPattern[], allow: readonly string[] = []): void {
    for (const candidate of bound) {
      const isAllowed = (other: BoundPattern): boolean => isAllowedPair(candidate, other, allow);
      const clash = this.clashOf(candidate, isAllowed);
      if (clash !== undefined) throw clashError(candidate, clash);
      const mixed = this.clients.clashOf(candidate, isAllowed);
      if (mixed !== undefined) throw clientClashError(candidate, mixed);
      this.remember(candidate);
    }
  }

  /** Adds a pattern that is bound whether or not it clashes, as on a broker. */
  remember(candidate: BoundPattern): void {
    if (isExactLiteral(candidate.bindingKey)) this.literal.set(candidate.bindingKey, candidate);
    else this.wild.push(candidate);
    this.clients.remember(candidate);
  }

  /**
   * An earlier pattern that some of the candidate's messages match too.
   * @param isAllowed which of them may; default none
   */
  clashOf(
    candidate: BoundPattern,
    isAllowed: (other: BoundPattern) => boolean = () => false,
  ): BoundPattern | undefined {
    const overlapping = (other: BoundPattern): boolean =>
      patternsOverlap(other.bindingKey, candidate.bindingKey) && !isAllowed(other);
    if (isExactLiteral(candidate.bindingKey))
      return this.literal.get(candidate.bindingKey) ?? this.wild.find(overlapping);
    return this.wild.find(overlapping) ?? [...this.literal.values()].find(overlapping);
  }
}

/**
 * Patterns as a vendor's clients bind them, `#.NAME`: one takes another's messages where its words are the other's last ones. Kept
 * by those last words, so that a thousand names are not compared with each other.
 */
class ClientPatterns {
  private readonly literal = new Map<string, BoundPattern[]>();
  private readonly ends = new Map<string, BoundPattern[]>();
  private readonly wild: BoundPattern[] = [];

  remember(candidate: BoundPattern): void {
    if (candidate.clientKey === undefined) return;
    if (hasWildcard(candidate.pattern)) this.wild.push(candidate);
    else {
      push(this.literal, candidate.pattern, candidate);
      for (const end of endsOf(candidate.pattern)) push(this.ends, end, candidate);
    }
  }

  /** An earlier pattern of another endpoint that takes the candidate's messages, or whose messages the candidate takes. */
  clashOf(candidate: BoundPattern, isAllowed: (other: BoundPattern) => boolean): BoundPattern | undefined {
    if (candidate.clientKey === undefined) return undefined;
    const isMixed = (other: BoundPattern): boolean => other.endpoint !== candidate.endpoint && !isAllowed(other);
    const isMixedByWildcard = (other: BoundPattern): boolean =>
      isMixed(other) &&
      (patternsOverlap(other.clientKey as string, candidate.bindingKey) ||
        patternsOverlap(candidate.clientKey as string, other.bindingKey));
    if (hasWildcard(candidate.pattern)) {
      return [...this.literal.values()].flat().concat(this.wild).find(isMixedByWildcard);
    }
    const longer = this.ends.get(candidate.pattern) ?? [];
    const shorter = endsOf(candidate.pattern).flatMap((end) => this.literal.get(end) ?? []);
    return [...longer, ...shorter].find(isMixed) ?? this.wild.find(isMixedByWildcard);
  }
}

function push(lists: Map<string, BoundPattern[]>, key: string, value: BoundPattern): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** What a pattern ends with, from its second word on. */
function endsOf(pattern: string): string[] {
  const words = pattern.split(".");
  return words.slice(1).map((_, index) => words.slice(index + 1).join("."));
}

function hasWildcard(pattern: string): boolean {
  return pattern.split(".").some((word) => word === "*" || word === "#");
}

/** Names that are the same can't be told apart by anybody. */
function isAllowedPair(one: BoundPattern, other: BoundPattern, allow: readonly string[]): boolean {
  if (one.clientKey === undefined || one.pattern === other.pattern) return false;
  return [namePair(one.pattern, other.pattern), namePair(other.pattern, one.pattern)].some((pair) =>
    allow.includes(pair),
  );
}

function clientClashError({ endpoint, pattern }: BoundPattern, clash: BoundPattern): DelayTopologyError {
  const [short, long] = pattern.length < clash.pattern.length ? [pattern, clash.pattern] : [clash.pattern, pattern];
  return new DelayTopologyError(
    "endpoints",
    endpoint,
    `its pattern ${pattern} and ${clash.endpoint}'s ${clash.pattern} would both get some messages: on this preset the vendor's own ` +
      `clients bind #.${short}, which takes the messages for ${long} too, whatever matching says. Take names of which none ends ` +
      `with another, or preset custom; add "${namePair(short, long)}" to allow where that is meant`,
  );
}

function clashError(candidate: BoundPattern, clash: BoundPattern): DelayTopologyError {
  const { endpoint, pattern, bindingKey } = candidate;
  if (clash.endpoint === endpoint) {
    return new DelayTopologyError("endpoints", endpoint, `its pattern ${pattern} is bound twice`);
  }
  if (candidate.clientKey !== undefined && pattern !== clash.pattern) return clientClashError(candidate, clash);
  const remedy = bindingKey.startsWith("#.") ? "use matching exact, or other names" : "give each message one endpoint";
  return new DelayTopologyError(
    "endpoints",
    endpoint,
    `its pattern ${pattern} and ${clash.endpoint}'s ${clash.pattern} would both get some messages; ${remedy}`,
  );
}

/** `*.*.….NAME` with no wildcard in the name: such keys overlap only when they are the same text. */
function isExactLiteral(bindingKey: string): boolean {
  const name = bindingKey.replace(/^(\*\.)+/, "");
  return !name.split(".").some((word) => word === "*" || word === "#");
}
