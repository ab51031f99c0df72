import { openedJson } from "../readJson";

/** One difference, down to the single argument. */
export interface Cause {
  /** e.g. `x-message-ttl`, `source`, `settings.type`. */
  property: string;
  before: string;
  after: string;
}

const SECRET = "[secret]";
/** What the engine writes for itself into inputs. */
const INTERNAL = new Set(["__defaults", "__internal", "__pulumi_raw_state_delta"]);
const LONGEST_VALUE = 120;

/** Properties whose values nobody should read in a pull request, whether or not the program made secrets of them. */
const SECRET_NAMES = /pass(word|phrase)?$|secret|token|credential|private.?key/i;

/**
 * Compares inputs property by property, JSON in texts key by key. A secret on either side shows as one on both.
 */
export function causesOf(before: Record<string, unknown> = {}, after: Record<string, unknown> = {}): Cause[] {
  const causes: Cause[] = [];
  compare("", before, after, causes);
  return causes;
}

function compare(path: string, before: unknown, after: unknown, causes: Cause[]): void {
  const [one, other] = [openedJson(before), openedJson(after)];
  if (isRecord(one) && isRecord(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      if (!INTERNAL.has(key)) compare(pathOf(path, key), one[key], other[key], causes);
    }
    return;
  }
  if (JSON.stringify(one) === JSON.stringify(other)) return;
  const isHidden = [before, after].some((value) => typeof value === "string" && value.includes(SECRET));
  const shown = isHidden || SECRET_NAMES.test(path) ? () => SECRET : show;
  causes.push({ property: path, before: shown(one), after: shown(other) });
}

/** An argument's own name says more than the way to it. */
function pathOf(path: string, key: string): string {
  if (path === "" || path.endsWith("argumentsJson") || path.endsWith("definition")) return key;
  return `${path}.${key}`;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  const whole = typeof value === "string" ? value : JSON.stringify(value, hideSecrets);
  // What a URL has before its host is a user and a password.
  const text = whole.replace(/:\/\/[^/@\s"]+@/g, `://${SECRET}@`);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function hideSecrets(key: string, value: unknown): unknown {
  return SECRET_NAMES.test(key) ? SECRET : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
