import { PreviewError } from "../errors";

/** Lines that may be a plan's last, of which each costs a look at the whole text. */
const MOST_ENDS = 5;

/**
 * Reads the JSON of a preview out of a text, which may have other lines before and after it: a policy pack's, or the engine's about a new
 * version.
 * @throws PreviewError for a text without JSON, for another format of the engine, and for a text with more than one plan
 */
export function openPreviewText(text: string, source: string): unknown {
  const given = text.replace(/^\uFEFF/, "").trim();
  const whole = parsed(given);
  if (whole !== undefined) {
    checkFormat(whole, source);
    return whole;
  }
  const lines = given.split(/\r?\n/);
  const [start] = linesWith("{", lines);
  const first = start === undefined ? undefined : parsed(lines[start] as string);
  if (first !== undefined) checkFormat(first, source);
  for (const end of start === undefined ? [] : [start, ...linesWith("}", lines).slice(-MOST_ENDS)].reverse()) {
    const value = parsed(upToBrace(lines.slice(start, end + 1).join("\n")));
    if (value === undefined) continue;
    if (lines.slice(end + 1).some((line) => line.startsWith("{"))) {
      throw new PreviewError(`${source} has more than one JSON document; review one plan at a time`);
    }
    checkFormat(value, source);
    return value;
  }
  // The parser's own message quotes what it read.
  throw new PreviewError(
    `${source} is not JSON, or cut off (${given === "" ? "it is empty" : `${given.length} characters`})`,
  );
}

/** The engine writes a plan over several lines, of which only the first and the last begin with a brace. */
function linesWith(brace: string, lines: readonly string[]): number[] {
  return lines.flatMap((line, index) => (line.startsWith(brace) ? [index] : []));
}

/** Keys that the engine adds to inputs for itself, also within a queue's arguments. */
const INTERNAL = new Set(["__defaults", "__internal", "__pulumi_raw_state_delta"]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => (INTERNAL.has(key) ? undefined : value)) as unknown;
  } catch {
    return undefined;
  }
}

function upToBrace(text: string): string {
  return text.slice(0, text.lastIndexOf("}") + 1);
}

/** @throws PreviewError for the engine's other formats, by their names */
function checkFormat(value: unknown, source: string): void {
  if (typeof value !== "object" || value === null) return;
  const isEvent = "sequence" in value && "timestamp" in value;
  const isSummary = "result" in value && "duration" in value && !("steps" in value);
  if (!isEvent && !isSummary) return;
  const format = isEvent
    ? "a log of the engine's events (--event-log, or PULUMI_ENABLE_STREAMING_JSON_PREVIEW)"
    : "a summary of the engine's (pulumi preview --output json)";
  throw new PreviewError(
    `${source} is ${format}; give the plan: pulumi preview --json --show-sames --show-replacement-steps`,
  );
}
