type Step = () => void | Promise<void>;

const steps: Step[] = [];

/** Runs a step after the current test, however it ends; the last registered step runs first. */
export function afterThisTest(step: Step): void {
  steps.push(step);
}

/** Runs all steps. @throws Error of the first step that failed, after all of them */
export async function cleanUp(): Promise<void> {
  const failures: unknown[] = [];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
