import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError, shownAlone } from "@rabbitmq-delay/broker";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { textsIn, withoutKnown } from "@rabbitmq-delay/topology/stack";
import { servesOtherLanguages } from "./otherLanguages";
import { valueOf } from "./providerAddress";
import { Run, thisRun } from "./thisRun";

/**
 * What a check makes of a value that is known later. A refusal is one line that names the property, without any part of a value that is
 * secret; and components that still look at their broker make nothing then, though others of the program may have begun.
 */
export function checkedLater<T, U>(
  input: pulumi.Input<T>,
  check: (value: pulumi.Unwrap<T>) => U,
): pulumi.Output<pulumi.Unwrap<U>> {
  const output: pulumi.Output<pulumi.Unwrap<T>> = pulumi.output(input);
  // A test with Pulumi's mocks has no stack, and makes components of many programs.
  const isProgram = servesOtherLanguages() || pulumi.runtime.getStackResource() !== undefined;
  const run = isProgram ? thisRun() : undefined;
  return output.apply((value): U | Promise<never> => {
    try {
      return check(value);
    } catch (error) {
      return refuse(error, output, value, run);
    }
  }) as pulumi.Output<pulumi.Unwrap<U>>;
}

async function refuse(
  error: unknown,
  output: pulumi.Output<unknown>,
  value: unknown,
  run: Run | undefined,
): Promise<never> {
  if (!(error instanceof DelayTopologyError)) throw error;
  const isHidden = await pulumi.isSecret(output);
  const refusal = shownAlone(isHidden ? error.ofSecret((text) => withoutKnown(text, textsIn(value))) : error);
  if (run !== undefined) run.refusal ??= refusal;
  throw refusal;
}

/** The texts in those of some values that are secret, as far as they are known; for messages that must not have them. */
export async function secretTexts(inputs: readonly unknown[]): Promise<string[]> {
  const found = await Promise.all(
    inputs.map(async (input) => {
      if (!pulumi.Output.isInstance(input) || !(await pulumi.isSecret(input))) return [];
      return textsIn(await valueOf(input));
    }),
  );
  return found.flat();
}

/** An error of a question to a broker without texts that are secret. */
export function withoutTexts(error: unknown, texts: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const message = withoutKnown(error.message, texts);
  if (message === error.message) return error;
  return new BrokerCheckError(message, error instanceof BrokerCheckError && error.isOutOfReach);
}
