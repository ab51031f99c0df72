import { cpSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";

/** The programs with which artifacts are tried out. */
export const programsFolder = join(root, "toolchain", "release");

/** The key of ten seconds to Sales in the network of network.json, which each language's publisher has to make. */
const KEY = `${"0.".repeat(24)}1.0.1.0.Sales`;

/** Copies a program that encodes ten seconds to Sales, with the descriptor that it reads. */
export function copyEncodeProgram(name: string, folder: string): void {
  cpSync(join(programsFolder, name), folder, { recursive: true });
  cpSync(join(programsFolder, "network.json"), join(folder, "network.json"));
}

/** @throws Error when a program printed another key */
export function checkKey(printed: string): void {
  if (printed.trim() !== KEY) throw new Error(`the key is ${printed.trim()} instead of ${KEY}`);
}
