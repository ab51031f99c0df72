import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { temporaryFolder } from "./temporaryFolder";

/** Makes a folder with the packages of this checkout, where a test writes programs as a user would. */
export function folderWithModules(): string {
  const folder = temporaryFolder();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Checks the types of the modules (`.mts`) in a folder as one program. @throws Error with what the compiler says */
export async function checkTypes(folder: string): Promise<void> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".mts"));
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", "node"];
  await run(join(root, "node_modules", ".bin", "tsc"), [...flags, "--target", "es2022", ...files], { cwd: folder });
}
