import { spawn } from "node:child_process";
import { isGuarding, track } from "./interruption";

/** How a command is run. */
export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with each line that the command prints, for progress. */
  onLine?: (line: string) => void;
}

/** Runs a command to its end. @throws Error with the end of its output when it fails */
export function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
      // In a group with its own children, so that an interruption ends all of them.
      detached: isGuarding(),
    });
    if (isGuarding()) track(child);
    let output = "";
    const read = (data: Buffer): void => {
      output += data.toString();
      const lines = data
        .toString()
        .split("\n")
        .filter((line) => line.trim() !== "");
      const last = lines.at(-1);
      if (last !== undefined) options.onLine?.(last.trim());
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", (error) => reject(new Error(`${command} can't be run: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else
        reject(
          new Error(
            `${command} ${args.join(" ")} failed (${code}):\n${output.trim().split("\n").slice(-8).join("\n")}`,
          ),
        );
    });
  });
}

/** Whether a command exists. */
export async function hasCommand(name: string): Promise<boolean> {
  return (await whichCommand(name)) !== undefined;
}

/** The path of a command, or undefined. */
export async function whichCommand(name: string): Promise<string | undefined> {
  return run("sh", ["-c", `command -v ${name}`]).then(
    (output) => output.trim(),
    () => undefined,
  );
}
