import { Broker } from "./broker";
import { execute } from "./execute";
import { check } from "./invariants/check";
import type { Violation } from "./invariants/violation";
import type { Plan } from "./plan/types";
import { stopSharedDatabase } from "./workload/database";

const BOUND_MS = 120_000;

/**
 * Runs one plan on a broker of its own: what a failure prints can be pasted into a test.
 * @throws Error with the promises that were broken
 */
export async function runPlan(plan: Plan): Promise<void> {
  const broker = await Broker.start(plan.broker);
  let violations: Violation[];
  try {
    violations = check(plan, await execute(plan, broker, { boundMs: BOUND_MS }));
  } finally {
    await broker.remove();
    await stopSharedDatabase();
  }
  if (violations.length === 0) return;
  throw new Error(violations.map(describeViolation).join("\n"));
}

/** In one line. */
export function describeViolation({ invariant, part, n, detail }: Violation): string {
  return `${invariant}${n === undefined ? (part === "" ? "" : ` (part ${part})`) : ` ${n}`}: ${detail}`;
}
