import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rules } from "../dist/judge/rules";
import { root } from "../../../toolchain/dist/paths";
import { doneBy, excerpts, undone, wayOut } from "../../../test/support/waysOut";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const ids = excerpts.map(({ id }) => id as string);

/** The source with its concatenated strings as one, and without the backslashes in them. */
const joined = (source: string): string => source.replaceAll(/["'`]\s*\+\s*["'`]/g, "").replaceAll("\\", "");

describe("the table of ways out", () => {
  it("has texts as the sources have them, each under one id", () => {
    const wrong = excerpts.filter(({ file, text }) => !joined(read(file)).includes(text));
    assert.deepEqual(wrong, []);
    const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
    assert.deepEqual(repeated, []);
  });

  it("has each step of the review's rules, and the rules of notes have none", () => {
    const steps = Object.values(rules).flatMap(({ wayOut: steps }) =>
      steps.flatMap((step) => (typeof step === "string" ? [step] : Object.values(step))),
    );
    const untold = steps.filter((step) => !excerpts.some(({ id }) => wayOut(id).test(step)));
    assert.deepEqual(untold, []);
    const notes = Object.values(rules).filter(({ severity, wayOut: steps }) => severity === "note" && steps.length > 0);
    assert.deepEqual(notes, []);
  });

  it("has for each id a test that does what the text says, or a reason why none does", () => {
    const used = ["engine", "brokers", "kubernetes", "store"]
      .map((room) => join("test", room))
      .concat(join("components", "test"), join("packages", "broker", "test"))
      .flatMap((room) => readdirSync(join(root, room)).map((name) => join(room, name)))
      .filter((file) => file.endsWith(".test.ts"))
      .flatMap((file) => [...read(file).matchAll(/\bwayOut\(\s*"([^"]+)"/g)].map(([, id = ""]) => id));
    const answers = [...new Set(used), ...Object.keys(doneBy), ...Object.keys(undone)];
    const unanswered = ids.filter((id) => !answers.includes(id));
    assert.deepEqual(unanswered, []);
    const wrong = answers.filter((id, index) => !ids.includes(id) || answers.indexOf(id) !== index);
    assert.deepEqual(wrong, []);
    const gone = Object.values(doneBy).filter(([file, title]) => !read(file).includes(title));
    assert.deepEqual(gone, []);
  });
});
