import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** An instruction of a Dockerfile. */
export interface Instruction {
  /** Name of its stage, or its number. */
  stage: string;
  word: string;
  text: string;
}

/** The instructions of a Dockerfile whose lines are not continued. */
export function readDockerfile(file: string): Instruction[] {
  let [stage, count] = ["", 0];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, word = "", text = ""] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
      if (word === "FROM") stage = / AS (\S+)$/.exec(text)?.[1] ?? String(count++);
      return { stage, word, text };
    });
}

/** What a COPY takes, from where, and to where. */
export function copiesOf({ text }: Instruction): { from?: string; sources: string[]; target: string } {
  const words = text.split(/\s+/);
  const from = words[0]?.startsWith("--from=") ? (words.shift() as string).slice("--from=".length) : undefined;
  return { from, sources: words.slice(0, -1), target: words.at(-1) as string };
}

/** Does what a COPY does: a folder's content goes into the target, a file below it where the target ends with a slash. */
export function copyInto(source: string, target: string, filter: (path: string) => boolean = () => true): void {
  if (!existsSync(source)) throw new Error(`COPY: there is no ${source}`);
  mkdirSync(join(target, ".."), { recursive: true });
  const place = target.endsWith("/") ? join(target, basename(source)) : target;
  cpSync(source, place, { recursive: true, verbatimSymlinks: true, filter });
}
