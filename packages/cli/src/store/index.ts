import { Command } from "commander";
import { addExample } from "../commonOptions";
import { addCancel, addList, addReschedule, addStats } from "./queries";
import { addRun, addSetUp } from "./run";

/** `store`: runs and queries an external store of delayed messages. */
export function addStore(program: Command): void {
  const store = program
    .command("store")
    .description("delayed messages in PostgreSQL or SQLite, delivered when they are due");
  for (const add of [addRun, addSetUp, addList, addCancel, addReschedule, addStats]) add(store);
  addExample(store, "rabbitmq-delay store list --store sqlite:delayed.db");
}
