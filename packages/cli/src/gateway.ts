import { Command, Option } from "commander";
import { addExample } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { NetworkOptions, addNetworkOptions, networkOf, shapeOptions } from "./networkOption";
import { readDescriptor } from "./process/config";
import { addBrokerOptions, addProcessOptions, gatherForward, runProcess } from "./process/runProcess";

interface RunOptions extends NetworkOptions {
  descriptor?: string;
  name?: string;
  forward?: object[];
  toExchange?: string[];
  singleActiveConsumer?: boolean;
  [setting: string]: unknown;
}

/** `gateway`: any delay by the header `x-delay`, in a delay network. */
export function addGateway(program: Command): void {
  const gateway = program
    .command("gateway")
    .description("messages with the header x-delay, of any delay, that wait in a delay network; no database");
  addRun(gateway);
  addExample(
    gateway,
    "rabbitmq-delay gateway run --descriptor outputs.json --amqp amqp://gateway@broker.example.com/shop",
  );
}

/** `gateway run`: the process that leads messages into the network, and delivers them when they come back. */
function addRun(gateway: Command): void {
  const command = gateway
    .command("run")
    .description(
      "lead messages with x-delay into a delay network, and deliver them when their time is over, until SIGTERM",
    );
  const own = ["name", "forward", "toExchange", "singleActiveConsumer", "network", "stack", ...shapeOptions];
  addBrokerOptions(command)
    .addOption(
      new Option("--descriptor <file>", "the broker's side: a stack's outputs, or the descriptor in them").conflicts(
        own,
      ),
    )
    .option("--name <name>", "instead of --descriptor: the gateway's name; default: gateway")
    .option(
      "--forward <exchange=delivery[:type]...>",
      "instead of --descriptor: exchanges that take delayed messages, each with the exchange to which they go when due",
      gatherForward,
    )
    .option("--to-exchange <names...>", "instead of --descriptor: exchanges that messages may name in a header")
    .option("--single-active-consumer", "instead of --descriptor: one process at a time, which keeps the order")
    .option("--declare", "declare the broker's side, too, but not the network");
  addNetworkOptions(command);
  addProcessOptions(command, { http: "127.0.0.1:9479", takes: "gateway" })
    .addHelpText(
      "after",
      "\nAll settings also come from the file, and from RABBITMQ_DELAY_GATEWAY_NAME, e.g. RABBITMQ_DELAY_GATEWAY_BATCH_SIZE.",
    )
    .action(run);
  addExample(
    command,
    "rabbitmq-delay gateway run --network network.json --forward shop=shop.delivery --amqp amqp://gateway@broker.example.com/shop --declare",
  );
}

async function run(given: RunOptions, command: Command): Promise<void> {
  const { runGateway, gatewaySchema, gatewaySettings } = await import("@rabbitmq-delay/store/gateway");
  const descriptor = descriptorOf(given);
  if (descriptor === undefined && given.config === undefined && process.env[DESCRIPTOR_VARIABLE] === undefined) {
    throw new CommandError(
      exitCodes.badInput,
      "give --descriptor FILE, --network FILE, --stack STACK or --preset PRESET",
    );
  }
  const gateway = {
    verb: "gateway run",
    variables: "RABBITMQ_DELAY_GATEWAY",
    settings: Object.keys(gatewaySchema.shape),
    check: gatewaySettings,
    run: runGateway,
  };
  await runProcess(gateway, given, command, descriptor);
}

const DESCRIPTOR_VARIABLE = "RABBITMQ_DELAY_GATEWAY_DESCRIPTOR";

/** The broker's side, if flags give it. */
function descriptorOf(given: RunOptions): Record<string, unknown> | undefined {
  const { descriptor, name, forward, toExchange, singleActiveConsumer, network, stack, preset } = given;
  if (descriptor !== undefined) return readDescriptor(descriptor, "delayGateway");
  if ((network ?? stack ?? preset) === undefined) return undefined;
  return {
    ...(name === undefined ? {} : { name }),
    forwards: forward ?? [],
    exchanges: toExchange ?? [],
    ...(singleActiveConsumer === undefined ? {} : { singleActiveConsumer }),
    network: networkOf(given),
  };
}
