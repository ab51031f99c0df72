import { Command } from "commander";
import { readContent } from "@rabbitmq-delay/broker";
import { Adoption, planAdoption } from "@rabbitmq-delay/operate";
import { addExample, commonOptions } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { orOutOfReach, readerOf } from "./managementApi";
import { renderStackYaml } from "./render/stackYaml";
import { PROJECT } from "./stackConfig";

interface AdoptOptions {
  management?: string;
  ca?: string;
  vhost: string;
  json?: boolean;
}

/** `adopt`: prints the config of a stack that would adopt what a broker has. */
export function addAdopt(program: Command): void {
  const command = program
    .command("adopt")
    .description(
      "print the config of a stack that adopts the networks, endpoints and retry queues of a vhost; it only reads",
    )
    .addOption(
      commonOptions.management("the broker, e.g. http://USER:PASSWORD@HOST:15672; the user needs the tag management"),
    )
    .addOption(commonOptions.ca())
    .option("--vhost <vhost>", "the broker's vhost", "/")
    .addOption(commonOptions.json())
    .action(adopt);
  addExample(
    command,
    "rabbitmq-delay adopt --management https://rabbitmq.example.com:15671 --vhost orders > Pulumi.prod.yaml",
  );
}

async function adopt({ management, ca, vhost, json }: AdoptOptions): Promise<void> {
  if (management === undefined) {
    throw new CommandError(exitCodes.badInput, "give --management URL, or set RABBITMQ_MANAGEMENT_URL");
  }
  const adoption = planAdoption(vhost, await orOutOfReach(readContent(readerOf(management, ca), vhost)));
  const config = Object.fromEntries(
    Object.entries(adoption.config).map(([key, value]) => [`${PROJECT}:${key}`, value]),
  );
  const { isEmpty, remarks } = adoption;
  if (json) console.log(JSON.stringify({ vhost, config: isEmpty ? {} : config, remarks }, undefined, 2));
  else process.stdout.write(textOf(adoption, isEmpty ? {} : config));
  if (isEmpty || remarks.some(({ kind }) => kind === "differs")) process.exitCode = exitCodes.finding;
}

function textOf({ vhost, isEmpty, remarks }: Adoption, config: Record<string, unknown>): string {
  const name = JSON.stringify(vhost);
  const count = remarks.filter(({ kind }) => kind === "differs").length;
  const heading = isEmpty
    ? `nothing that a stack could adopt was found in vhost ${name}`
    : `adopts what was found in vhost ${name}; ${
        count === 0 ? "nothing differs" : `${count} ${count === 1 ? "thing differs" : "things differ"}: see the remarks`
      }`;
  const placed = remarks.map(({ place, ...remark }) => ({
    ...remark,
    place: place.length === 0 ? [] : [`${PROJECT}:${place[0]}`, ...place.slice(1)],
  }));
  return renderStackYaml(config, [heading], placed);
}
