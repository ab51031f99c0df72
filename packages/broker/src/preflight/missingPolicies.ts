import type { PolicyPlan } from "@rabbitmq-delay/topology";

/** A policy as the broker shows it. */
export interface FoundPolicy {
  name: string;
  pattern: string;
  "apply-to": string;
  priority: number;
  definition: Record<string, unknown>;
}

/** The planned policies that are not on the broker yet, or exist with another content. */
export function missingPolicies(planned: readonly PolicyPlan[], found: readonly FoundPolicy[]): PolicyPlan[] {
  const texts = new Set(
    found.map((policy) => textOf({ ...policy, applyTo: policy["apply-to"] as PolicyPlan["applyTo"] } as PolicyPlan)),
  );
  return planned.filter((policy) => !texts.has(textOf(policy)));
}

function textOf({ name, pattern, applyTo, priority, definition }: PolicyPlan): string {
  const keys = Object.keys(definition).sort();
  return JSON.stringify([name, pattern, applyTo, priority, keys.map((key) => [key, definition[key]])]);
}
