import { Command, Option } from "commander";
import { CommandError, exitCodes } from "./failure";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { renderDefinitions } from "./render/definitions";
import { renderMermaid } from "./render/mermaid";
import { NetworkPlan, RetriesPlan, networkPlan, retriesPlan } from "./render/plan";
import { renderRetriesSvg } from "./render/retriesSvg";
import { renderSvg } from "./render/svg";
import { readRetries } from "./retriesOption";

interface RenderOptions extends NetworkOptions {
  retries?: string;
  format: keyof typeof formats;
  endpoint: string[];
  vhost: string;
  brokerVersion?: string;
  json?: boolean;
}

type Plan = NetworkPlan | RetriesPlan;

const formats = {
  definitions: (plan: Plan, vhost: string): string => JSON.stringify(renderDefinitions(plan, vhost), undefined, 2),
  mermaid: renderMermaid,
  svg: (plan: Plan): string => ("network" in plan ? renderSvg(plan) : renderRetriesSvg(plan)),
  json: (plan: Plan): string => JSON.stringify(plan, undefined, 2),
};

/** `render`: the whole plan, for a broker, for documents or for eyes. */
export function addRender(program: Command): void {
  addNetworkOptions(
    program.command("render").description("the whole plan: for the broker's import, as a picture, as JSON"),
  )
    .option(
      "--retries <file>",
      "instead of a network: a retry descriptor, a component's options with their kind, or the output of " +
        "pulumi stack output --json; - reads it from standard input",
    )
    .addOption(new Option("--format <format>", "what to print").choices(Object.keys(formats)).default("json"))
    .option(
      "--endpoint <name>",
      "an endpoint's queue to draw with it; may be repeated",
      (name, names: string[]) => [...names, name],
      [],
    )
    .option("--vhost <vhost>", "the vhost of the definitions", "/")
    .option(
      "--broker-version <version>",
      "of the broker that imports it, e.g. 4.3.6: before 4.0 there is no delivery limit to lift; default: as every version takes it",
    )
    .option("--json", "the same as --format json")
    .action((options: RenderOptions) => {
      const format = options.json ? "json" : options.format;
      console.log(formats[format](planOf(options, format), options.vhost));
    });
}

/** A picture shows the way of messages; that no message is dropped for being delivered often is no part of it. */
function planOf(options: RenderOptions, format: RenderOptions["format"]): Plan {
  const { retries, network, preset, endpoint, brokerVersion } = options;
  const limits = format === "definitions" || format === "json" ? { brokerVersion } : undefined;
  if (retries === undefined) return networkPlan(networkOf(options), endpoint, limits);
  if (network !== undefined || preset !== undefined) {
    throw new CommandError(exitCodes.badInput, "give one of --retries, --network and --preset");
  }
  return retriesPlan(readRetries(retries), endpoint, limits);
}
