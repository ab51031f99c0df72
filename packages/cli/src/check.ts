import { Command, Option } from "commander";
import pc from "picocolors";
import {
  AuditFinding,
  NAME_PAIR,
  auditNetwork,
  auditQueue,
  brokerFaultIds,
  planDelayedStore,
  planRetry,
} from "rabbitmq-delay-topology";
import { Checked, auditVhost } from "./check/brokerAudit";
import { readVhost } from "./check/foundOn";
import { CommandError, exitCodes } from "./failure";
import { parseBrokerUrl } from "./managementApi";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { readStackConfig } from "./stackConfig";

interface CheckOptions extends NetworkOptions {
  config?: string;
  endpoint: string[];
  /** True without an address, which then is the environment's. */
  management?: string | true;
  broker?: string;
  vhost?: string;
  allow: string[];
  failOn: "error" | "warning";
  json?: boolean;
}

/** `check`: what of a plan, or of a broker as it is, could mix up or lose messages, without a preview. */
export function addCheck(program: Command): void {
  const collect = (value: string, values: string[]): string[] => [...values, value];
  addNetworkOptions(
    program
      .command("check")
      .description(
        "check a stack's config, or a broker, for what could misroute or lose messages; no preview is needed",
      ),
  )
    .option("--config <file>", "a stack's config file, e.g. Pulumi.prod.yaml, instead of a network")
    .option("--endpoint <name>", "an endpoint of the network; may be repeated", collect, [])
    .option(
      "--management [url]",
      "look at the broker, too, e.g. http://USER:PASSWORD@HOST:15672 (environment, without a URL: RABBITMQ_MANAGEMENT_URL); " +
        "alone, it looks at all networks of the vhost",
    )
    .addOption(new Option("--broker <url>", "the same as --management").hideHelp())
    .option("--vhost <vhost>", "the vhost there; default: the config's, or /")
    .addOption(
      new Option(
        "--allow <word>",
        `a fault of the broker's that you know of (${brokerFaultIds.join(", ")}), or a pair of names that a vendor's clients ` +
          `mix up, e.g. "Sales with Europe.Sales"; may be repeated`,
      )
        .argParser((value: string, values: string[]) => collect(wordOf(value), values))
        .default([], "none"),
    )
    .addOption(
      new Option("--fail-on <severity>", "exit with 1 at this or worse").choices(["error", "warning"]).default("error"),
    )
    .option("--json", "findings as JSON")
    .addHelpText(
      "after",
      "\nExample: rabbitmq-delay check --config Pulumi.prod.yaml --management https://rabbitmq.example.com:15671",
    )
    .action(check);
}

function wordOf(value: string): string {
  if ((brokerFaultIds as readonly string[]).includes(value) || NAME_PAIR.test(value)) return value;
  throw new CommandError(
    exitCodes.badInput,
    `--allow: ${JSON.stringify(value)} is not allowed; it must be one of ${brokerFaultIds.join(", ")}, or a pair of ` +
      `names like "Sales with Europe.Sales"`,
  );
}

async function check(options: CheckOptions): Promise<void> {
  const address = addressOf(options);
  const broker = address === undefined ? undefined : parseBrokerUrl(address);
  const { vhost = "/", ...given } = checkedOf(options, broker !== undefined);
  const checked = { ...given, allow: [...(given.allow ?? []), ...options.allow] };
  const { network, endpoints, retries, store } = checked;
  const plans = [...retries.map(planRetry), ...(store === undefined ? [] : [planDelayedStore(store)])];
  const findings = [
    ...(network === undefined ? [] : auditNetwork(network, endpoints, checked.allow)),
    ...plans.flatMap(({ queues }) => queues).flatMap(auditQueue),
    ...(broker === undefined ? [] : auditVhost(checked, await readVhost(broker, options.vhost ?? vhost))),
  ];
  console.log(options.json ? JSON.stringify(findings, undefined, 2) : asText(findings));
  const counts = (severity: AuditFinding["severity"]): boolean => severity === "error" || options.failOn === "warning";
  if (findings.some(({ severity }) => counts(severity))) process.exitCode = exitCodes.finding;
}

function addressOf({ management, broker }: CheckOptions): string | undefined {
  if (management !== undefined && broker !== undefined) {
    throw new CommandError(exitCodes.badInput, "--broker is the former name of --management; give one of them");
  }
  if (management !== true) return management ?? broker;
  const address = process.env.RABBITMQ_MANAGEMENT_URL;
  if (address !== undefined && address !== "") return address;
  throw new CommandError(exitCodes.badInput, "--management: give it a URL, or set RABBITMQ_MANAGEMENT_URL");
}

function checkedOf(options: CheckOptions, hasBroker: boolean): Checked & { vhost?: string } {
  const { config, endpoint, network, preset } = options;
  if (config === undefined) {
    const endpoints = endpoint.map((name) => ({ name }));
    // A broker can be looked at alone.
    const isNamed = network !== undefined || preset !== undefined || endpoint.length > 0 || !hasBroker;
    return { network: isNamed ? networkOf(options) : undefined, endpoints, retries: [] };
  }
  if (network !== undefined || preset !== undefined || endpoint.length > 0) {
    throw new CommandError(
      exitCodes.badInput,
      "--config says what the network and its endpoints are; leave the others out",
    );
  }
  return readStackConfig(config);
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
