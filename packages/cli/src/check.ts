import { Command, Option } from "commander";
import pc from "picocolors";
import { Checked, auditVhost, brokerFaultIds, readVhost } from "@rabbitmq-delay/broker";
import { planDelayedExchange, planDelayedStore, planRetry } from "@rabbitmq-delay/topology";
import { AuditFinding, NAME_PAIR, auditNetwork, auditQueue, planGatewayQueues } from "@rabbitmq-delay/topology/stack";
import { addExample, commonOptions } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { orOutOfReach, readerOf } from "./managementApi";
import { NetworkOptions, addNetworkOptions, networkOf, shapeOptions } from "./networkOption";
import { readStackFile } from "./stackConfig";

interface CheckOptions extends NetworkOptions {
  stackConfig?: string;
  endpoint?: string[];
  /** True if given without an address; then the environment's is used. */
  management?: string | true;
  ca?: string;
  vhost?: string;
  allow?: string[];
  failOn: "error" | "warning";
  json?: boolean;
}

/** `check`: finds what in a plan or on a broker could misroute or lose messages, without a preview. */
export function addCheck(program: Command): void {
  const command = program
    .command("check")
    .description("check a stack's config, or a broker, for what could misroute or lose messages; no preview is needed");
  addNetworkOptions(command)
    .addOption(
      new Option(
        "--stack-config <file>",
        "a stack's config file, e.g. Pulumi.prod.yaml, instead of a network",
      ).conflicts(["network", "stack", "endpoint", ...shapeOptions]),
    )
    .option("--endpoint <names...>", "endpoints of the network")
    // Commander's env() is not used: the broker of the environment is asked only if the option is given.
    .option(
      "--management [url]",
      "also check the broker, e.g. http://USER:PASSWORD@HOST:15672; without a URL, the one in RABBITMQ_MANAGEMENT_URL; " +
        "without a plan, everything in the vhost is checked",
    )
    .addOption(commonOptions.ca())
    .option("--vhost <vhost>", "the broker's vhost; default: the network's or the config's, or /")
    .addOption(
      new Option(
        "--allow <words...>",
        `accepted risks: known faults of the broker (${brokerFaultIds.join(", ")}), or pairs of names that a vendor's ` +
          `clients mix up, e.g. "Sales with Europe.Sales"`,
      ).argParser((value: string, values: string[] = []) => [...values, readAllowed(value)]),
    )
    .addOption(
      new Option("--fail-on <severity>", "exit with 1 at this or worse").choices(["error", "warning"]).default("error"),
    )
    .addOption(commonOptions.json())
    .action(check);
  addExample(
    command,
    "rabbitmq-delay check --stack-config Pulumi.prod.yaml --management https://rabbitmq.example.com:15671",
  );
}

function readAllowed(value: string): string {
  if ((brokerFaultIds as readonly string[]).includes(value) || NAME_PAIR.test(value)) return value;
  throw new CommandError(
    exitCodes.badInput,
    `--allow: ${JSON.stringify(value)} is not allowed; it must be one of ${brokerFaultIds.join(", ")}, or a pair of ` +
      `names like "Sales with Europe.Sales"`,
  );
}

async function check(options: CheckOptions): Promise<void> {
  const address = addressOf(options);
  const broker = address === undefined ? undefined : readerOf(address, options.ca);
  const { vhost = "/", ...given } = checkedOf(options, broker !== undefined);
  const checked = { ...given, allow: [...(given.allow ?? []), ...(options.allow ?? [])] };
  const { networks, retries, exchanges = [], store, gateway } = checked;
  const plans = [
    ...retries.map(planRetry),
    ...exchanges.map(planDelayedExchange),
    ...(store === undefined ? [] : [planDelayedStore(store)]),
    ...(gateway === undefined ? [] : [planGatewayQueues(gateway)]),
  ];
  const findings = [
    ...networks.flatMap(({ network, endpoints }) => auditNetwork(network, endpoints, checked.allow)),
    ...plans.flatMap(({ queues }) => queues).flatMap(auditQueue),
    ...(broker === undefined ? [] : auditVhost(checked, await orOutOfReach(readVhost(broker, options.vhost ?? vhost)))),
  ];
  console.log(options.json ? JSON.stringify(findings, undefined, 2) : asText(findings));
  const counts = (severity: AuditFinding["severity"]): boolean => severity === "error" || options.failOn === "warning";
  if (findings.some(({ severity }) => counts(severity))) process.exitCode = exitCodes.finding;
}

function addressOf({ management }: CheckOptions): string | undefined {
  if (management !== true) return management;
  const address = process.env.RABBITMQ_MANAGEMENT_URL;
  if (address !== undefined && address !== "") return address;
  throw new CommandError(exitCodes.badInput, "--management: give it a URL, or set RABBITMQ_MANAGEMENT_URL");
}

function checkedOf(options: CheckOptions, hasBroker: boolean): Checked & { vhost?: string } {
  const { endpoint = [], network, preset, stack } = options;
  const stackConfig =
    options.stackConfig ?? (stack === undefined ? undefined : `Pulumi.${stack.split("/").at(-1)}.yaml`);
  if (stackConfig !== undefined) return readStackFile(stackConfig);
  // A broker can be checked without a plan.
  const isNamed = network !== undefined || preset !== undefined || endpoint.length > 0 || !hasBroker;
  const known = isNamed ? networkOf(options) : undefined;
  const endpoints = endpoint.map((name) => ({ name }));
  const networks = known === undefined ? [] : [{ network: known, endpoints }];
  return { networks, vhost: known?.vhost, endpoints, retries: [] };
}

function asText(findings: AuditFinding[]): string {
  if (findings.length === 0) return "nothing found";
  const isColoured = pc.isColorSupported && process.stdout.isTTY;
  const paint = { error: isColoured ? pc.red : String, warning: isColoured ? pc.yellow : String };
  const lines = findings.map(
    ({ severity, subject, message }) => `${paint[severity](severity.padEnd(7))}  ${subject}: ${message}`,
  );
  const errors = findings.filter(({ severity }) => severity === "error").length;
  return [...lines, `${errors} errors, ${findings.length - errors} warnings`].join("\n");
}
