import { Command, Option } from "commander";
import { DelayNetwork, Endpoint, parkingPolicy, planBinding, planEntities } from "rabbitmq-delay-topology";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { renderDefinitions } from "./render/definitions";
import { renderMermaid } from "./render/mermaid";
import { RenderedPlan } from "./render/plan";
import { renderSvg } from "./render/svg";

interface RenderOptions extends NetworkOptions {
  format: keyof typeof formats;
  endpoint: string[];
  vhost: string;
  json?: boolean;
}

const formats = {
  definitions: (plan: RenderedPlan, vhost: string): string =>
    JSON.stringify(renderDefinitions(plan, vhost), undefined, 2),
  mermaid: renderMermaid,
  svg: renderSvg,
  json: (plan: RenderedPlan): string => JSON.stringify(plan, undefined, 2),
};

/** `render`: the whole plan, for a broker, for documents or for eyes. */
export function addRender(program: Command): void {
  addNetworkOptions(
    program.command("render").description("the whole plan: for the broker's import, as a picture, as JSON"),
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
      const plan = planOf(networkOf(options), options.endpoint);
      console.log(formats[options.json ? "json" : options.format](plan, options.vhost));
    });
}

function planOf(network: DelayNetwork, names: string[]): RenderedPlan {
  const endpoints: Endpoint[] = names.map((name) => ({ name }));
  const entities = planEntities(network);
  const bound = endpoints.flatMap((endpoint) => planBinding(network, endpoint).bindings);
  return { network, ...entities, endpointBindings: bound, policy: parkingPolicy(network) };
}
