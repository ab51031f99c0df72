import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./paths";
import { hasCommand, run } from "./run";

/** A program that is built from the pinned modules in `toolchain/go/MODULE`. */
export interface GoProgram {
  /** Folder in toolchain/go with go.mod and go.sum. */
  module: string;
  /** The package to build; `.` for the folder's own. */
  package: string;
  /** Linked in as the version, e.g. for the Automation API, which refuses an engine without one. */
  ldflags?: string;
}

/** Builds a program into `output`, in a copy of its module: a build must not change the checkout. */
export async function goBuild(program: GoProgram, output: string, progress: (line: string) => void): Promise<void> {
  if (!(await hasCommand("go"))) throw new Error("Go is not installed (https://go.dev/doc/install)");
  await inModule(program.module, async (cwd) => {
    // A module without a checksum in go.sum is refused, whatever this machine's Go settings say.
    const flags = [
      "-mod=readonly",
      "-buildvcs=false",
      "-trimpath",
      "-ldflags",
      `-s -w ${program.ldflags ?? ""}`.trim(),
    ];
    progress(`compiling ${program.package}`);
    await run("go", ["build", ...flags, "-o", output, program.package], { cwd, onLine: progress });
  });
}

/** The folder in which Go keeps a module that one of toolchain/go pins; the module is fetched if it is missing. */
export function goModuleFolder(module: string, path: string): Promise<string> {
  return inModule(module, async (cwd) => {
    const printed = await run("go", ["mod", "download", "-json", path], { cwd });
    return (JSON.parse(printed.slice(printed.indexOf("{"))) as { Dir: string }).Dir;
  });
}

/** Go may write into a module's folder, so it gets a copy. */
async function inModule<T>(module: string, work: (folder: string) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), "rabbitmq-delay-go-"));
  try {
    cpSync(join(root, "toolchain", "go", module), scratch, { recursive: true });
    return await work(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
