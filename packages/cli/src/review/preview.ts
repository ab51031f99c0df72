import { CommandError, exitCodes } from "../failure";

/** A resource as the engine shows it before or after a step. */
export interface PreviewState {
  urn: string;
  type: string;
  custom?: boolean;
  parent?: string;
  retainOnDelete?: boolean;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  dependencies?: string[];
}

/** One planned step. */
export interface PreviewStep {
  op: string;
  urn: string;
  oldState?: PreviewState;
  newState?: PreviewState;
}

/** What `pulumi preview --json` prints, as far as a review needs it. */
export interface Preview {
  steps: PreviewStep[];
  /** Resources that stay as they are, also those that the file does not list. */
  unchanged: number;
  /** Whether unchanged resources are listed, as with `--show-sames`. */
  hasSames: boolean;
  /** What went wrong; the preview is then not whole. */
  errors: string[];
}

interface RawPreview {
  steps?: unknown;
  diagnostics?: { severity?: string; message?: string; urn?: string }[];
  changeSummary?: Record<string, number>;
}

/**
 * Reads the engine's JSON.
 * @param source a file's name, for messages
 * @throws CommandError for what is no preview
 */
export function parsePreview(text: string, source: string): Preview {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `${source} is not JSON, or cut off (${(error as Error).message})`);
  }
  const raw = value as RawPreview | null;
  const isPreview =
    typeof raw === "object" && raw !== null && ("steps" in raw || "changeSummary" in raw || "diagnostics" in raw);
  if (!isPreview) {
    throw new CommandError(exitCodes.badInput, `${source} is not the output of pulumi preview --json: it has no steps`);
  }
  const steps = raw.steps ?? [];
  if (!Array.isArray(steps)) throw new CommandError(exitCodes.badInput, `${source}: steps is not a list`);
  steps.forEach((step: unknown, index) => checkStep(step, `${source}: steps[${index}]`));
  const given = steps as PreviewStep[];
  const sames = given.filter(({ op, urn }) => op === "same" && !isStack(urn));
  const unchanged = Math.max(sames.length, (raw.changeSummary?.same ?? 0) - 1, 0);
  return {
    steps: given,
    unchanged,
    hasSames: sames.length > 0 && sames.length >= unchanged,
    errors: errorsOf(raw),
  };
}

function checkStep(step: unknown, at: string): void {
  const { op, urn, oldState, newState } = (step ?? {}) as Record<string, unknown>;
  if (typeof op !== "string" || typeof urn !== "string") {
    throw new CommandError(exitCodes.badInput, `${at} has no op and urn; is it the output of pulumi preview --json?`);
  }
  for (const state of [oldState, newState]) {
    if (state !== undefined && (typeof state !== "object" || state === null)) {
      throw new CommandError(exitCodes.badInput, `${at}: a state is not an object`);
    }
  }
}

function errorsOf({ diagnostics = [] }: RawPreview): string[] {
  if (!Array.isArray(diagnostics)) return [];
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ message = "" }) =>
      String(message)
        .replace(/<\{%.*?%\}>/g, "")
        .trim(),
    )
    .filter((message) => message !== "");
}

/** The stack itself is a resource too, and none that anybody looks at. */
export function isStack(urn: string): boolean {
  return urn.includes("::pulumi:pulumi:Stack::");
}
