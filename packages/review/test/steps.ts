import { PreviewStep, parsePreview } from "../dist/preview/preview";
import { Review, reviewOf } from "../dist/review";

/** A step as the engine writes it; the real engine's are tested with the whole system. */
export function step(op: string, type: string, name: string, inputs: object, more: object = {}): PreviewStep {
  return change(op, type, name, inputs, inputs, more);
}

/** A step whose inputs differ before and after. */
export function change(
  op: string,
  type: string,
  name: string,
  before: object,
  after: object,
  more: object = {},
): PreviewStep {
  const urn = `urn:pulumi:prod::shop::${type}::${name}`;
  const state = { urn, type: type.split("$").at(-1) as string, custom: true };
  return {
    op,
    urn,
    ...(op === "create" ? {} : { oldState: { ...state, inputs: { ...before }, ...more } }),
    ...(op === "delete" ? {} : { newState: { ...state, inputs: { ...after }, ...more } }),
  };
}

export const queueStep = (op: string, name: string, more: object = {}): PreviewStep =>
  step(op, "rabbitmq:index/queue:Queue", name, { name, vhost: "/", settings: { argumentsJson: "{}" } }, more);

export const reviewed = (steps: PreviewStep[]): Promise<Review> =>
  reviewOf(parsePreview(JSON.stringify({ steps }), "test"));

/** The steps of a replacement in which the engine deletes the old one first; any other step as it is. */
export function deletedFirst(one: PreviewStep): PreviewStep[] {
  if (one.op !== "replace") return [one];
  return ["delete-replaced", "replace", "create-replacement"].map((op) => ({ ...one, op }));
}

/** The verdict with the rules that led to it, worst first. */
export async function judged(steps: PreviewStep[]): Promise<[string, ...string[]]> {
  const { verdict, findings } = await reviewed(steps);
  return [verdict, ...findings.map(({ rule }) => rule)];
}
