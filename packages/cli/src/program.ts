import { Command } from "commander";
import { addAdopt } from "./adopt";
import { addCheck } from "./check";
import { addComment } from "./comment";
import { addCompletion } from "./completion";
import { addDecode } from "./decode";
import { addEncode } from "./encode";
import { addEnforce } from "./enforce";
import { addGateway } from "./gateway";
import { addPublish } from "./publish";
import { addRender } from "./render";
import { addReview } from "./review";
import { addStore } from "./store";
import { addExample } from "./commonOptions";

/** The command with all its verbs. */
export function createProgram(): Command {
  const program = new Command("rabbitmq-delay")
    .description(
      "Delayed messages on plain RabbitMQ: keys, plans, publishing, an external store, and reviews of changes",
    )
    .version((require("../package.json") as { version: string }).version)
    // Verbs added from here on inherit this.
    .exitOverride()
    .showSuggestionAfterError();
  for (const add of [
    addEncode,
    addDecode,
    addRender,
    addPublish,
    addReview,
    addComment,
    addCheck,
    addEnforce,
    addAdopt,
    addStore,
    addGateway,
    addCompletion,
  ])
    add(program);
  return addExample(program, "rabbitmq-delay encode --preset nservicebus --delay 10s --destination Sales");
}
