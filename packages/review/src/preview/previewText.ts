import { PreviewError } from "../errors";

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
  const start = lines.findIndex((line) => line.trimStart().startsWith("{"));
  const first = start === -1 ? undefined : parsed(lines[start] as string);
  if (first !== undefined) checkFormat(first, source);
  for (let end = lines.length; start !== -1 && end > start; end--) {
    if (!lines[end - 1]?.includes("}")) continue;
    const rest = lines.slice(end);
    const value = parsed(upToBrace(lines.slice(start, end).join("\n")));
    if (value === undefined) continue;
    if (rest.some((line) => line.trimStart().startsWith("{"))) {
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
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
  if (!isEvent) return;
  throw new PreviewError(
    `${source} is a log of the engine's events (--event-log, or PULUMI_ENABLE_STREAMING_JSON_PREVIEW); give the plan: ` +
      "pulumi preview --json --show-sames --show-replacement-steps",
  );
}
