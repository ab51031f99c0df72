import { openedJson } from "@rabbitmq-delay/topology";
import { SECRET, isSecretName, withoutSecrets } from "../redact";

/** One difference, as precise as a single argument. */
export interface Cause {
  /** e.g. `x-message-ttl`, `source`, `settings.type`. */
  property: string;
  before: string;
  after: string;
}

/** Where the compared inputs belong: to a thing of the broker, whose texts are names and patterns, or elsewhere. */
export type Place = "broker" | "elsewhere";

const HIDDEN = "[not shown]";
const LONGEST_VALUE = 120;

const QUANTITY = /^\d{1,9}(\.\d{1,3})?[a-zA-Z]{0,2}$/;
/**
 * The texts that a review shows of inputs that are not the broker's, by the last part of their path and by their form. Everything else may
 * be a secret whose name does not say so, and is not shown.
 */
const shownElsewhere: Record<string, RegExp> = {
  image: /^[a-z0-9][a-z0-9.:/_-]{0,120}:\d[a-z0-9._-]{0,40}(@sha256:[0-9a-f]{64})?$/,
  storage: QUANTITY,
  memory: QUANTITY,
  cpu: QUANTITY,
  engineVersion: /^\d{1,3}(\.\d{1,4}){0,3}$/,
  whenDeleted: /^(Retain|Delete)$/,
  whenScaled: /^(Retain|Delete)$/,
};

/**
 * Compares inputs property by property; in those of the broker, JSON texts are compared key by key, too. A secret on either side shows as
 * one on both.
 */
export function causesOf(
  before: Record<string, unknown> = {},
  after: Record<string, unknown> = {},
  place: Place = "broker",
): Cause[] {
  const causes: Cause[] = [];
  compare("", before, after, place, causes);
  return causes;
}

function compare(path: string, before: unknown, after: unknown, place: Place, causes: Cause[]): void {
  const [one, other] = place === "broker" ? [openedJson(before), openedJson(after)] : [before, after];
  // The keys of a secret value are not shown either.
  if (isRecord(one) && isRecord(other) && !isSecretName(path)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
      compare(pathOf(path, key), one[key], other[key], place, causes);
    return;
  }
  if (JSON.stringify(one) === JSON.stringify(other)) return;
  const isHidden = [before, after].some((value) => JSON.stringify(value)?.includes(SECRET) === true);
  const shown =
    isHidden || isSecretName(path)
      ? () => SECRET
      : place === "broker"
        ? show
        : (value: unknown) => showElsewhere(path, value);
  causes.push({ property: path, before: shown(one), after: shown(other) });
}

/** An argument's own name says more than the path to it. */
function pathOf(path: string, key: string): string {
  if (path === "" || path.endsWith("argumentsJson") || path.endsWith("definition")) return key;
  return `${path}.${key}`;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  const text = withoutSecrets(typeof value === "string" ? value : JSON.stringify(hideSecrets(value)));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function showElsewhere(path: string, value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const shape = shownElsewhere[path.split(".").at(-1) ?? ""];
  return typeof value === "string" && shape?.test(value) === true ? value : HIDDEN;
}

/** Copies a value without anything that its name makes a secret; in a list's objects, such as names with values, no text is shown. */
function hideSecrets(value: unknown, isInList = false): unknown {
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, true));
  if (typeof value === "string") return withoutSecrets(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const isSecret = isSecretName(key) || (isInList && typeof item === "string");
      return [key, isSecret ? SECRET : hideSecrets(item, isInList)];
    }),
  );
}

/** A queue's arguments for a report, without those whose name says secret, or whose value looks like a secret. */
export function showArguments(values: Record<string, unknown>): Record<string, unknown> {
  return hideSecrets(values) as Record<string, unknown>;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
