import { ownWarning } from "@rabbitmq-delay/topology/stack";
import { PreviewError } from "../errors";
import { secretsIn, secretsOf, withoutSecrets } from "../redact";
import { openPreviewText } from "./previewText";
import { parseUrn, typeOf } from "./urn";

/** A resource as the engine shows it before or after a step. */
export interface PreviewState {
  urn: string;
  type: string;
  custom?: boolean;
  /** Whether the program only reads it, so that it is never deleted. */
  external?: boolean;
  parent?: string;
  /** URN and id of the provider that declares it. */
  provider?: string;
  retainOnDelete?: boolean;
  /** Id by which the provider knows it. */
  id?: string;
  /** The id in its option `import`, also of an update before. */
  importID?: string;
  /** URN of the resource with which it goes, so that the engine does not delete it by itself. */
  deletedWith?: string;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
  dependencies?: string[];
  /** URNs of the resources from whose outputs each input comes. */
  propertyDependencies?: Record<string, string[]>;
}

/** One planned step. */
export interface PreviewStep {
  op: string;
  urn: string;
  oldState?: PreviewState;
  newState?: PreviewState;
  /** Properties that differ, as far as the engine says. */
  diffReasons?: string[] | null;
  detailedDiff?: Record<string, unknown> | null;
}

/** The part of the output of `pulumi preview --json` that a review needs. */
export interface Preview {
  steps: PreviewStep[];
  /** Number of unchanged resources, including those that the file does not list. */
  unchanged: number;
  /** Whether unchanged resources are listed, as with `--show-sames`. */
  hasSames: boolean;
  /** Whether all unchanged resources are listed. */
  isWhole: boolean;
  /** What went wrong, or does not fit together; the preview is then incomplete. Without secrets. */
  errors: string[];
  /** Warnings of this project's components and program, each once. Without secrets. */
  warnings: string[];
  /** Warnings of others: the engine, SDKs, providers and the rest of the program, each once. Without secrets. */
  otherWarnings: string[];
}

interface RawPreview {
  steps?: unknown;
  diagnostics?: { severity?: string; message?: string; urn?: string }[];
  changeSummary?: Record<string, unknown>;
}

/** Steps that change no resource: they read one, or forget one that was only read or no longer exists. */
export const neutralSteps = new Set([
  "read",
  "read-replacement",
  "refresh",
  "discard",
  "discard-replaced",
  "remove-pending-replace",
]);
/** Steps that change something; a step in neither list can't be judged. */
const changingSteps = [
  "same",
  "create",
  "update",
  "delete",
  "replace",
  "create-replacement",
  "delete-replaced",
  "import",
  "import-replacement",
] as const;
/** A step that changes something, or says that it does not. */
export type ChangingStep = (typeof changingSteps)[number];

export function isChangingStep(op: string): op is ChangingStep {
  return (changingSteps as readonly string[]).includes(op);
}

/**
 * Reads the engine's JSON.
 * @param source a file's name, for messages
 * @param exitCode how the engine ended, if that is known; anything but 0 makes the preview incomplete
 * @throws PreviewError for a text that is not a preview
 */
export function parsePreview(text: string, source: string, exitCode: number | null = 0): Preview {
  const raw = openPreviewText(text, source) as RawPreview | null;
  const isPreview =
    typeof raw === "object" && raw !== null && ("steps" in raw || "changeSummary" in raw || "diagnostics" in raw);
  if (!isPreview) {
    throw new PreviewError(`${source} is not the output of pulumi preview --json: it has no steps`);
  }
  const steps = raw.steps ?? [];
  if (!Array.isArray(steps)) throw new PreviewError(`${source}: steps is not a list`);
  steps.forEach((step: unknown, index) => checkStep(step, `${source}: steps[${index}]`));
  const given = steps as PreviewStep[];
  const summary = summaryOf(raw, source);
  const errors = errorsOf(raw, given, exitCode);
  const sames = given.filter(({ op, urn }) => op === "same" && !isStack(urn));
  const unchanged = Math.max(sames.length, (summary.get("same") ?? 0) - 1, 0);
  return {
    steps: given,
    unchanged,
    isWhole: sames.length >= unchanged,
    hasSames: sames.length >= unchanged && (sames.length > 0 || summary.size > 0),
    ...warningsOf(raw, given),
    errors: errors.length > 0 && given.length === 0 ? errors : [...errors, ...gapsOf(given, summary)],
  };
}

function checkStep(step: unknown, at: string): void {
  const { op, urn, oldState, newState } = (step ?? {}) as Record<string, unknown>;
  if (typeof op !== "string" || typeof urn !== "string") {
    throw new PreviewError(`${at} has no op and urn; is it the output of pulumi preview --json?`);
  }
  if (parseUrn(urn) === undefined) throw new PreviewError(`${at}: its urn is none`);
  for (const state of [oldState, newState]) {
    if (state !== undefined && (typeof state !== "object" || state === null)) {
      throw new PreviewError(`${at}: a state is not an object`);
    }
    checkState(state as Record<string, unknown> | undefined, at);
  }
}

function checkState(state: Record<string, unknown> = {}, at: string): void {
  const isTable = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const noText = ["type", "parent", "provider", "deletedWith"].find(
    (key) => !["string", "undefined"].includes(typeof state[key]),
  );
  const noTable = ["inputs", "outputs"].find((key) => state[key] !== undefined && !isTable(state[key]));
  if (noText !== undefined) throw new PreviewError(`${at}: a state's ${noText} is no text`);
  if (noTable !== undefined) throw new PreviewError(`${at}: a state's ${noTable} is not an object`);
}

function summaryOf({ changeSummary = {} }: RawPreview, source: string): Map<string, number> {
  const counts = Object.entries(changeSummary ?? {});
  if (counts.some(([, count]) => typeof count !== "number")) {
    throw new PreviewError(`${source}: changeSummary does not count`);
  }
  return new Map(counts as [string, number][]);
}

/** What was reported with one severity, without colours and secrets. */
function messagesOf(severity: string, { diagnostics }: RawPreview, steps: PreviewStep[]): string[] {
  const known = new Set([...secretsOf(), ...secretsIn(steps)]);
  return (Array.isArray(diagnostics) ? diagnostics : [])
    .filter((diagnostic) => diagnostic?.severity === severity)
    .map(({ message }) =>
      withoutSecrets(
        String(message ?? "")
          .replace(/<\{%.*?%\}>/g, "")
          .trim(),
        known,
      ),
    );
}

/** What the engine warns of by itself, which is about its own installation and nothing that a stack declares. */
const OF_ENGINE =
  /^(A new version of Pulumi|using pulumi-(language|resource)-|resource plugin \S+ is expected to have version|loading plugin)/i;

/** The warnings, by whose they are: the engine does not say so, and this project's have a mark. */
function warningsOf(raw: RawPreview, steps: PreviewStep[]): Pick<Preview, "warnings" | "otherWarnings"> {
  const messages = messagesOf("warning", raw, steps).map((message) => message.replace(/^warning: /, ""));
  const told = [...new Set(messages)].filter((message) => message !== "" && !OF_ENGINE.test(message));
  return {
    warnings: told.map(ownWarning).filter((message) => message !== undefined),
    otherWarnings: told.filter((message) => ownWarning(message) === undefined),
  };
}

/** The errors that the engine reported; also if all that it reported is how it ended. */
function errorsOf(raw: RawPreview, steps: PreviewStep[], exitCode: number | null): string[] {
  const errors = messagesOf("error", raw, steps).map((message) =>
    message === "" ? "an error without a message" : message,
  );
  if (exitCode === 0 || errors.length > 0) return errors;
  return [`pulumi preview ended with ${exitCode ?? "a signal"}, and did not say why`];
}

/** The parts of a plan that can't be judged, because the file lacks them or nobody knows what they mean. */
function gapsOf(steps: PreviewStep[], summary: Map<string, number>): string[] {
  const gaps: string[] = [];
  const isKnown = (op: string): boolean => isChangingStep(op) || neutralSteps.has(op);
  const unknown = new Set([...steps.map(({ op }) => op), ...summary.keys()].filter((op) => !isKnown(op)));
  for (const op of unknown) gaps.push(`the plan has steps of a kind that this review does not know: ${quote(op)}`);
  for (const op of changingSteps) {
    const [counted, listed] = [summary.get(op) ?? 0, steps.filter((step) => step.op === op).length];
    if (op !== "same" && counted > listed) {
      gaps.push(`the plan counts ${counted} steps of kind ${op}, and lists ${listed}`);
    }
  }
  if (steps.length === 0 && summary.size === 0) {
    gaps.push("the plan has neither steps nor a summary of them");
  }
  return gaps;
}

function quote(op: string): string {
  return JSON.stringify(op.slice(0, 40));
}

/** Whether a resource is the stack itself, which is of no interest. */
export function isStack(urn: string): boolean {
  return typeOf(urn) === "pulumi:pulumi:Stack";
}
