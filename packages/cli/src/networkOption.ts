import { Command, Option } from "commander";
import {
  DelayNetwork,
  DelayNetworkOptions,
  delayNetwork,
  matchings,
  parseDelayNetwork,
  presets,
  queueTypes,
} from "@rabbitmq-delay/topology";
import { wholeNumber } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { readJson } from "./readJson";
import { readStackOutputs } from "./stackOutputs";

/** The options that give a network. */
export interface NetworkOptions extends Partial<DelayNetworkOptions> {
  network?: string;
  stack?: string;
}

/** The options that shape a network without a file, by their names in code. */
export const shapeOptions = ["preset", "prefix", "radix", "levels", "unitMs", "queueType", "matching"] as const;

/** Adds the options that give a network: a descriptor's file, or a preset with its shape. */
export function addNetworkOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--network <file>",
        "a network's descriptor, or the output of pulumi stack output --json; - reads it from standard input",
      ).conflicts([...shapeOptions]),
    )
    .addOption(
      new Option("--stack <stack>", "instead of --network: a stack of the current folder that exports it").conflicts([
        "network",
        ...shapeOptions,
      ]),
    )
    .addOption(
      new Option("--preset <preset>", "instead of --network: a preset; the options below give its shape").choices(
        presets,
      ),
    )
    .option("--prefix <name>", "start of all names (custom, celery)")
    .option("--radix <number>", "digits per level: 2, 4, 8 or 16 (custom)", wholeNumber(2, 16))
    .option("--levels <number>", "number of levels (custom)", wholeNumber(1))
    .option("--unit-ms <ms>", "smallest delay in milliseconds (custom)", wholeNumber(1))
    .addOption(new Option("--queue-type <type>", "type of the levels' queues (custom, celery)").choices(queueTypes))
    .addOption(new Option("--matching <matching>", "how endpoints' bindings match").choices(matchings));
}

/** The network that the options give. @throws CommandError, or DelayTopologyError from the topology's own checks */
export function networkOf({ network, stack, ...options }: NetworkOptions): DelayNetwork {
  if (stack !== undefined) return networkOfStack(stack);
  if (network !== undefined) return parseDelayNetwork(readDescriptor(network), "--network");
  if (options.preset === undefined) {
    throw new CommandError(exitCodes.badInput, "give exactly one of --network FILE, --stack STACK and --preset PRESET");
  }
  const given = shapeOptions.map((name) => [name, options[name]]).filter(([, value]) => value !== undefined);
  return delayNetwork(Object.fromEntries(given) as DelayNetworkOptions);
}

function networkOfStack(stack: string): DelayNetwork {
  const { delayNetwork: found } = readStackOutputs(stack);
  if (found !== undefined) return parseDelayNetwork(found, "--stack");
  throw new CommandError(exitCodes.badInput, `--stack: stack ${stack} has no output delayNetwork`);
}

/** Reads a descriptor, or a stack's outputs that contain one. */
function readDescriptor(file: string): unknown {
  const value = readJson("--network", file);
  const outputs = value as { kind?: unknown; delayNetwork?: unknown } | null;
  return outputs?.kind === undefined && outputs?.delayNetwork !== undefined ? outputs.delayNetwork : value;
}
