import { RetryDescriptor, parseRetryDescriptor, retryKinds } from "@rabbitmq-delay/topology";
import { retryDescriptorOf } from "@rabbitmq-delay/topology/stack";
import { CommandError, exitCodes } from "./failure";
import { readJson } from "./readJson";

/** Outputs of a stack that hold retry descriptors: one, or one for each queue. */
const outputNames = ["retryIntervals", "workRetries", "holdQueues", "delayedRetries"];

/**
 * Reads the retries of a file: a descriptor, options of a component with their `kind`, or a stack's outputs.
 * @throws CommandError for a file that has none of them, DelayTopologyError for one that is wrong
 */
export function readRetries(file: string): RetryDescriptor[] {
  const value = readJson("--retries", file) as Record<string, unknown> | null;
  if (value?.kind !== undefined) return [describe(value)];
  const outputs = outputNames.map((name) => value?.[name]).filter((output) => output !== undefined);
  const descriptors = outputs.flatMap((output) => (isGroup(output) ? Object.values(output) : [output]));
  if (descriptors.length > 0) return descriptors.map((descriptor) => parseRetryDescriptor(descriptor, "--retries"));
  throw new CommandError(
    exitCodes.badInput,
    `--retries: ${file} holds neither a descriptor (kind ${retryKinds.join(", ")}) nor a stack's outputs with one`,
  );
}

/** Whether a value is a group of descriptors by the names of their queues, and not a descriptor itself. */
function isGroup(output: unknown): output is object {
  return typeof output === "object" && output !== null && !("kind" in output);
}

/** A value without a version is written by hand: the options of a component. */
function describe(value: Record<string, unknown>): RetryDescriptor {
  if (value.version !== undefined) return parseRetryDescriptor(value, "--retries");
  const { kind, ...options } = value;
  return retryDescriptorOf(kind, options, "--retries.kind");
}
