import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../engine";

/** Makes a PULUMI_HOME that has the engine's plugins, and to which others can be added. */
export function makePulumiHome(home: string, engine: Engine): void {
  mkdirSync(home, { recursive: true });
  // The engine follows no links here.
  cpSync(join(engine.home, "plugins"), join(home, "plugins"), { recursive: true });
}
