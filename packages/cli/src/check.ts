import { Command, Option } from "commander";
import pc from "picocolors";
import {
  AuditFinding,
  BindingPlan,
  DelayNetwork,
  FoundOnBroker,
  auditBroker,
  auditNetwork,
  auditQueue,
  planDelayedStore,
  planRetry,
} from "rabbitmq-delay-topology";
import { CommandError, exitCodes } from "./failure";
import { BrokerUrl, get, parseBrokerUrl } from "./managementApi";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { StackConfig, readStackConfig } from "./stackConfig";

interface CheckOptions extends NetworkOptions {
  config?: string;
  endpoint: string[];
  broker?: string;
  vhost?: string;
  failOn: "error" | "warning";
  json?: boolean;
}

/** `check`: what of a plan could mix up or lose messages, without a preview. */
export function addCheck(program: Command): void {
  addNetworkOptions(
    program.command("check").description("what of a stack's plan could mix up or lose messages, without a preview"),
  )
    .option("--config <file>", "a stack's config file, e.g. Pulumi.prod.yaml, instead of a network")
    .option(
      "--endpoint <name>",
      "an endpoint of the network; may be repeated",
      (name, names: string[]) => [...names, name],
      [],
    )
    .option("--broker <url>", "management API to compare with, e.g. http://USER:PASSWORD@HOST:15672")
    .option("--vhost <vhost>", "the vhost there; default: the config's, or /")
    .addOption(
      new Option("--fail-on <severity>", "exit with 1 at this or worse").choices(["error", "warning"]).default("error"),
    )
    .option("--json", "findings as JSON")
    .action(check);
}

async function check(options: CheckOptions): Promise<void> {
  const broker = options.broker === undefined ? undefined : parseBrokerUrl(options.broker);
  const { network, endpoints, retries, store, vhost } = configOf(options);
  const plans = [...retries.map(planRetry), ...(store === undefined ? [] : [planDelayedStore(store)])];
  const findings = [
    ...auditNetwork(network, endpoints),
    ...plans.flatMap(({ queues }) => queues).flatMap(auditQueue),
    ...(broker === undefined
      ? []
      : auditBroker(network, endpoints, await foundOn(broker, options.vhost ?? vhost, network))),
  ];
  console.log(options.json ? JSON.stringify(findings, undefined, 2) : asText(findings));
  const counts = (severity: AuditFinding["severity"]): boolean => severity === "error" || options.failOn === "warning";
  if (findings.some(({ severity }) => counts(severity))) process.exitCode = exitCodes.finding;
}

function configOf(options: CheckOptions): StackConfig {
  const { config, endpoint } = options;
  if (config === undefined) {
    const endpoints = endpoint.map((name) => ({ name }));
    return { network: networkOf(options), endpoints, retries: [], vhost: "/" };
  }
  if (options.network !== undefined || options.preset !== undefined || endpoint.length > 0) {
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

interface FoundBinding {
  source: string;
  destination: string;
  destination_type: BindingPlan["destinationType"];
  routing_key: string;
}

async function foundOn(broker: BrokerUrl, vhost: string, { deliveryExchange }: DelayNetwork): Promise<FoundOnBroker> {
  const at = encodeURIComponent(vhost);
  const [queues, exchanges, bindings] = await Promise.all([
    get<FoundOnBroker["queues"]>(broker, `queues/${at}?columns=name,durable,consumers`),
    get<FoundOnBroker["exchanges"]>(broker, `exchanges/${at}?columns=name,durable`),
    get<FoundBinding[]>(broker, `exchanges/${at}/${encodeURIComponent(deliveryExchange)}/bindings/source`),
  ]);
  if (queues === undefined || exchanges === undefined) {
    throw new CommandError(exitCodes.outOfReach, `--broker: there is no vhost ${vhost}`);
  }
  const planned = (bindings ?? []).map(
    ({ source, destination, destination_type: destinationType, routing_key: routingKey }) => ({
      source,
      destination,
      destinationType,
      routingKey,
    }),
  );
  return { queues, exchanges, bindings: planned };
}
