import { spawn } from "node:child_process";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "./cleanup";
import { Recipe, recipesFolder } from "./recipes";
import { temporaryFolder } from "./temporaryFolder";

/** A program that has not said by then what is waited for never will. */
const TIMEOUT_MS = 400_000;

/** A text as it was with the plugin: each line after one that says `before:` is that one. */
function withThePlugin(text: string): string {
  return text.replace(/^([ \t]*)(?:#|\/\/) before: (.*)\n.*\n/gm, "$1$2\n");
}

/** What is run instead of a recipe as it is. */
interface Changes {
  /** A text in place of its program. */
  program?: string;
  /** Its files as they were with the plugin. */
  isFormer?: boolean;
}

/** A program that runs until its test is over, in a copy of its folder. */
export class RecipeProcess {
  private output = "";
  private isOver = false;
  private wake: () => void = () => undefined;

  /** Starts a recipe's program that publishes, or that does all. */
  static start(recipe: Recipe, url: string, args: string[] = [], changes: Changes = {}): Promise<RecipeProcess> {
    return RecipeProcess.in(recipe, recipe.start, { url, args, changes });
  }

  /** Starts a recipe's consumer, if it is a program of its own, and else the one that does all. */
  static startConsumer(
    recipe: Recipe,
    url: string,
    args: string[] = [],
    changes: Changes = {},
  ): Promise<RecipeProcess> {
    return RecipeProcess.in(recipe, recipe.startConsumer ?? recipe.start, { url, args, changes });
  }

  private static async in(
    { client, file }: Recipe,
    start: Recipe["start"],
    { url, args, changes }: { url: string; args: string[]; changes: Changes },
  ): Promise<RecipeProcess> {
    const copy = temporaryFolder();
    cpSync(join(recipesFolder, client), copy, { recursive: true });
    if (changes.isFormer)
      for (const name of readdirSync(copy)) {
        const text = readFileSync(join(copy, name), "utf8");
        writeFileSync(join(copy, name), withThePlugin(text));
      }
    if (changes.program !== undefined) writeFileSync(join(copy, file), changes.program);
    const { command, args: first, env } = await start(copy);
    return new RecipeProcess(command, [...first, ...args], copy, { ...process.env, RABBITMQ_URL: url, ...env });
  }

  private constructor(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv) {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data: Buffer) => {
        this.output += data.toString();
        this.wake();
      });
    const ended = new Promise<void>((resolve) => {
      const end = (): void => {
        this.isOver = true;
        this.wake();
        resolve();
      };
      child.on("error", (error) => {
        this.output += error.message;
        end();
      });
      child.on("close", end);
    });
    afterThisTest(async () => {
      child.kill("SIGKILL");
      await ended;
    });
  }

  /** What it printed of each message, once there are `count`. @throws Error with its output when it ends before */
  async arrivals(count: number): Promise<{ key: string; afterMs: number; delay: string }[]> {
    // Some clients write it into a log, behind a time.
    const line = /(\S+) after (\d+) ms, x-delay (\S+)$/gm;
    const found = (): RegExpMatchArray[] => [...this.output.matchAll(line)];
    await this.until(() => found().length >= count);
    return found().map(([, key, afterMs, delay]) => ({ key: `${key}`, afterMs: Number(afterMs), delay: `${delay}` }));
  }

  /** Until it printed something like this. @throws Error with its output when it ends before */
  async says(pattern: RegExp): Promise<void> {
    await this.until(() => pattern.test(this.output));
  }

  /** Until it has ended. @returns what it printed */
  async ended(): Promise<string> {
    while (!this.isOver) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.output;
  }

  private async until(isSo: () => boolean): Promise<void> {
    const deadlineMs = Date.now() + TIMEOUT_MS;
    while (!isSo()) {
      if (this.isOver || Date.now() > deadlineMs) throw new Error(`not in time:\n${this.output.slice(-3000)}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, 1000);
      });
    }
  }
}
