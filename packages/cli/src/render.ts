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
    .option("--json", "the same as --format json")
    .action((options: RenderOptions) => {
      console.log(formats[options.json ? "json" : options.format](planOf(options), options.vhost));
    });
}

function planOf(options: RenderOptions): Plan {
  const { retries, network, preset, endpoint } = options;
  if (retries === undefined) return networkPlan(networkOf(options), endpoint);
  if (network !== undefined || preset !== undefined) {
    throw new CommandError(exitCodes.badInput, "give one of --retries, --network and --preset");
  }
  return retriesPlan(readRetries(retries), endpoint);
}
