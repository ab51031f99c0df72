import { Command, InvalidArgumentError } from "commander";
import { DelayNetwork, DelayNetworkOptions, delayNetwork, parseDelayNetwork } from "rabbitmq-delay-topology";
import { CommandError, exitCodes } from "./failure";
import { readJson } from "./readJson";

/** The options by which a network is named. */
export interface NetworkOptions {
  network?: string;
  preset?: string;
  prefix?: string;
  radix?: number;
  levels?: number;
  unitMs?: number;
  queueType?: string;
  matching?: string;
}

/** Adds the options that name a network: a descriptor's file, or a preset with its shape. */
export function addNetworkOptions(command: Command): Command {
  return command
    .option(
      "--network <file>",
      "a network's descriptor, or the output of pulumi stack output --json; - reads it from standard input",
    )
    .option("--preset <preset>", "nservicebus, nservicebus-v1, celery or custom")
    .option("--prefix <name>", "start of all names (custom, celery)")
    .option("--radix <number>", "digits per level: 2, 4, 8 or 16 (custom)", wholeNumber)
    .option("--levels <number>", "number of levels (custom)", wholeNumber)
    .option("--unit-ms <ms>", "smallest delay in milliseconds (custom)", wholeNumber)
    .option("--queue-type <type>", "quorum or classic (custom, celery)")
    .option("--matching <matching>", "exact or suffix");
}

/** The network that the options name. @throws CommandError, or DelayTopologyError from the topology's own checks */
export function networkOf(options: NetworkOptions): DelayNetwork {
  const { network, preset, prefix, radix, levels, unitMs, queueType, matching } = options;
  if ((network === undefined) === (preset === undefined)) {
    throw new CommandError(exitCodes.badInput, "give exactly one of --network FILE and --preset PRESET");
  }
  if (network !== undefined) return parseDelayNetwork(readDescriptor(network), "--network");
  const given = Object.entries({ preset, prefix, radix, levels, unitMs, queueType, matching });
  return delayNetwork(
    Object.fromEntries(given.filter(([, value]) => value !== undefined)) as unknown as DelayNetworkOptions,
  );
}

/** A descriptor, or a stack's outputs with one in them. */
function readDescriptor(file: string): unknown {
  const value = readJson("--network", file);
  const outputs = value as { kind?: unknown; delayNetwork?: unknown } | null;
  return outputs?.kind === undefined && outputs?.delayNetwork !== undefined ? outputs.delayNetwork : value;
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("it must be a whole number.");
  return Number(text);
}
