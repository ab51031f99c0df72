import { Command } from "commander";
import { BrokerCheckError } from "@rabbitmq-delay/broker";
import { EnforceError, EnforceResult, Step, enforceMatching } from "@rabbitmq-delay/operate";
import type { BindingPlan } from "@rabbitmq-delay/topology";
import { addExample, commonOptions } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { managementApiOf } from "./managementApi";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";

interface EnforceOptions extends NetworkOptions {
  management?: string;
  ca?: string;
  vhost?: string;
  undo?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** `enforce`: lets a live network enforce exact matching, or no longer. */
export function addEnforce(program: Command): void {
  const command = program
    .command("enforce")
    .description(
      "let a live NServiceBus network match exactly even though its senders bind by suffix; no message is lost, doubled or early",
    );
  addNetworkOptions(command)
    .addOption(
      commonOptions.management(
        "the broker, e.g. http://USER:PASSWORD@HOST:15672; the user needs the tag policymaker, and all rights on the network's entities",
      ),
    )
    .addOption(commonOptions.ca())
    .option("--vhost <vhost>", "the broker's vhost; default: the network's, or /")
    .option("--undo", "change it back: endpoints are bound to the delivery exchange again")
    .option("--dry-run", "print the steps, and make none")
    .addOption(commonOptions.json())
    .action(enforce);
  addExample(
    command,
    "rabbitmq-delay enforce --preset nservicebus --management https://rabbitmq.example.com:15671 --dry-run",
    "pulumi refresh   # afterwards, in each stack that declares the network or joins it; then set matching: enforced",
  );
}

async function enforce(options: EnforceOptions): Promise<void> {
  const { management, undo = false, dryRun = false, json } = options;
  if (management === undefined) {
    throw new CommandError(exitCodes.badInput, "give --management URL, or set RABBITMQ_MANAGEMENT_URL");
  }
  const network = networkOf(options);
  const vhost = options.vhost ?? network.vhost ?? "/";
  const api = managementApiOf(management, options.ca);
  let isBegun = false;
  const onStep = (step: Step): void => {
    isBegun = true;
    if (json !== true) console.log(describe(step));
  };
  const onStuck = json === true ? console.error : console.log;
  const change = enforceMatching(api, { ...network, vhost }, { undo, dryRun, onStep, onStuck });
  const result = await orFailed(change, () => isBegun);
  if (json === true) return console.log(JSON.stringify(result, undefined, 2));
  if (dryRun) for (const step of result.steps) console.log(describe(step));
  for (const { message } of result.stuck) console.log(message);
  console.log(conclude(result, dryRun));
}

/** @throws CommandError, out of reach, if the broker did not do a step */
async function orFailed(result: Promise<EnforceResult>, isBegun: () => boolean): Promise<EnforceResult> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof BrokerCheckError) {
      throw new CommandError(exitCodes.outOfReach, `--management: ${error.message.replace(/^broker\.username: /, "")}`);
    }
    if (!(error instanceof EnforceError)) throw error;
    const state = isBegun() ? "What was done stays; run it again to go on" : "This run has done nothing";
    throw new CommandError(exitCodes.outOfReach, `${error.message}. ${state}`);
  }
}

function conclude({ network, steps }: EnforceResult, isDry: boolean): string {
  const state = network.matching === "enforced" ? "enforces exact matching" : "no longer enforces exact matching";
  if (isDry)
    return steps.length === 0
      ? `network ${network.prefix} ${state}: nothing to do`
      : `${steps.length} steps; none was made`;
  return (
    `network ${network.prefix} ${state}: run pulumi refresh in each stack that declares it or joins it, and then set matching: ` +
    `${network.matching} there`
  );
}

function describe(step: Step): string {
  switch (step.do) {
    case "declare-exchange":
      return `declare exchange ${step.exchange}`;
    case "delete-exchange":
      return `delete exchange ${step.exchange}`;
    case "declare-queue":
      return `declare queue ${step.queue.name}, which leads to ${String(step.queue.arguments["x-dead-letter-exchange"])}`;
    case "bind":
      return `bind ${describeBinding(step.binding)}`;
    case "unbind":
      return `unbind ${describeBinding(step.binding)}`;
    case "set-policy":
      return `set policy ${step.policy.name}`;
    case "delete-policy":
      return `delete policy ${step.policy}`;
    case "await-policy":
      return `wait until exchange ${step.exchange} has policy ${step.policy}`;
    case "await-ready":
      return `wait until queue ${step.queue} takes messages`;
    case "drain-queue":
      return `wait until queue ${step.queue} is empty, and delete it`;
  }
}

function describeBinding({ source, destination, destinationType, routingKey }: BindingPlan): string {
  return `${destinationType} ${destination} to ${source} with ${routingKey}`;
}
