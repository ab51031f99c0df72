import type { DelayNetwork } from "@rabbitmq-delay/topology";
import { Command, Option } from "commander";
import { addExample } from "./commonOptions";
import { NetworkOptions, addNetworkOptions, networkOf, shapeOptions } from "./networkOption";
import { renderDefinitions } from "./render/definitions";
import { renderMermaid } from "./render/mermaid";
import { NetworkPlan, RetriesPlan, networkPlan, retriesPlan } from "./render/plan";
import { renderRetriesSvg } from "./render/retriesSvg";
import { renderSvg } from "./render/svg";
import { readRetries } from "./retriesOption";

interface RenderOptions extends NetworkOptions {
  retries?: string;
  format: keyof typeof formats;
  endpoint?: string[];
  vhost?: string;
  brokerVersion?: string;
}

type Plan = NetworkPlan | RetriesPlan;

const formats = {
  definitions: (plan: Plan, vhost: string): string => JSON.stringify(renderDefinitions(plan, vhost), undefined, 2),
  mermaid: renderMermaid,
  svg: (plan: Plan): string => ("network" in plan ? renderSvg(plan) : renderRetriesSvg(plan)),
  json: (plan: Plan): string => JSON.stringify(plan, undefined, 2),
};

/** `render`: prints the whole plan, for a broker, for documents or as a picture. */
export function addRender(program: Command): void {
  const command = program
    .command("render")
    .description("the whole plan: for the broker's import, as a picture, as JSON");
  addNetworkOptions(command)
    .addOption(
      new Option(
        "--retries <file>",
        "instead of a network: a retry descriptor, a component's options with their kind, or the output of " +
          "pulumi stack output --json; - reads it from standard input",
      ).conflicts(["network", ...shapeOptions]),
    )
    .addOption(new Option("--format <format>", "what to print").choices(Object.keys(formats)).default("json"))
    .option("--endpoint <names...>", "endpoints whose queues are included")
    .option("--vhost <vhost>", "the vhost of the definitions; default: the network's, or /")
    .option(
      "--broker-version <version>",
      "version of the broker, e.g. 4.3.6: before 4.0 there is no delivery limit to lift; default: a plan that every version accepts",
    )
    .addOption(new Option("--json", "the same as --format json").implies({ format: "json" }))
    .action((options: RenderOptions) => {
      const network = options.retries === undefined ? networkOf(options) : undefined;
      const vhost = options.vhost ?? network?.vhost ?? "/";
      console.log(formats[options.format](planOf(options, network), vhost));
    });
  addExample(command, "rabbitmq-delay render --preset celery --format definitions --broker-version 4.3.6");
}

/** A picture shows how messages flow; the policies against delivery limits are no part of that. */
function planOf(options: RenderOptions, network: DelayNetwork | undefined): Plan {
  const { format, retries, endpoint = [], brokerVersion } = options;
  const limits = format === "definitions" || format === "json" ? { brokerVersion } : undefined;
  if (network !== undefined) return networkPlan(network, endpoint, limits);
  return retriesPlan(readRetries(retries as string), endpoint, limits);
}
