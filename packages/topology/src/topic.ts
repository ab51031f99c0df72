import { DelayTopologyError } from "./errors";

/** Whether a topic exchange routes `routingKey` to a binding with `pattern`: `*` is one word, `#` any number of words. */
export function topicMatches(pattern: string, routingKey: string): boolean {
  return overlap(wordsOf(pattern), wordsOf(routingKey), false);
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
}

/**
 * Throws when a message for one endpoint could also reach another.
 * @throws DelayTopologyError naming both endpoints
 */
export function checkEndpointsApart(bound: readonly BoundPattern[]): void {
  new BoundPatterns().add(bound);
}

/**
 * The patterns bound so far, to which more can be added without comparing each with each: literal patterns of equal arity
 * clash only when they are equal.
 */
export class BoundPatterns {
  private readonly literal = new Map<string, BoundPattern>();
  private readonly wild: BoundPattern[] = [];

  /**
   * Adds patterns in their order.
   * @throws DelayTopologyError naming both endpoints, when a message for one could also reach the other
   */
  add(bound: readonly BoundPattern[]): void {
    for (const candidate of bound) {
      const clash = this.clashOf(candidate);
      if (clash !== undefined) throw clashError(candidate, clash);
      this.remember(candidate);
    }
  }

  /** Adds a pattern that is bound whether or not it clashes, as on a broker. */
  remember(candidate: BoundPattern): void {
    if (isExactLiteral(candidate.bindingKey)) this.literal.set(candidate.bindingKey, candidate);
    else this.wild.push(candidate);
  }

  /** An earlier pattern that some of the candidate's messages match too. */
  clashOf(candidate: BoundPattern): BoundPattern | undefined {
    const overlapping = (other: BoundPattern): boolean => patternsOverlap(other.bindingKey, candidate.bindingKey);
    if (isExactLiteral(candidate.bindingKey))
      return this.literal.get(candidate.bindingKey) ?? this.wild.find(overlapping);
    return this.wild.find(overlapping) ?? [...this.literal.values()].find(overlapping);
  }
}

function clashError(candidate: BoundPattern, clash: BoundPattern): DelayTopologyError {
  const { endpoint, pattern, bindingKey } = candidate;
  if (clash.endpoint === endpoint) {
    return new DelayTopologyError("endpoints", endpoint, `its pattern ${pattern} is bound twice`);
  }
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
