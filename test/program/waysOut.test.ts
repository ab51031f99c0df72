import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rules } from "../../packages/review/dist/judge/rules";
import { root } from "../../toolchain/dist/paths";
import { doneBy, texts, undone, wayOut } from "../support/waysOut";
import type { WayOut } from "../support/waysOut";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const ids = Object.values(texts).flatMap((ofFile) => Object.keys(ofFile) as WayOut[]);

/** The source with its concatenated strings as one, and without the backslashes in them. */
const joined = (source: string): string => source.replaceAll(/["'`]\s*\+\s*["'`]/g, "").replaceAll("\\", "");

describe("the table of ways out", () => {
  it("has texts as the sources have them, each under one id", () => {
    const wrong = Object.entries<Record<string, string>>(texts).flatMap(([file, ofFile]) => {
      const source = joined(read(file));
      return Object.entries(ofFile).filter(([, text]) => !source.includes(text));
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });

  it("has each step of the review's rules, and the rules of notes have none", () => {
    const steps = Object.values(rules).flatMap(({ wayOut: steps }) =>
      steps.flatMap((step) => (typeof step === "string" ? [step] : Object.values(step))),
    );
    assert.deepEqual(
      steps.filter((step) => !ids.some((id) => wayOut(id).test(step))),
      [],
    );
    const notes = Object.values(rules).filter(({ severity }) => severity === "note");
    assert.deepEqual(
      notes.filter(({ wayOut: steps }) => steps.length > 0),
      [],
    );
  });

  it("has for each id a test that does what the text says, or a reason why none does", () => {
    const used = new Set(
      ["engine", "brokers", "kubernetes"]
        .map((room) => join("test", room))
        .flatMap((room) => readdirSync(join(root, room)).map((name) => join(room, name)))
        .filter((file) => file.endsWith(".test.ts"))
        .flatMap((file) => [...read(file).matchAll(/\bwayOut\("([^"]+)"\)/g)].map(([, id]) => id)),
    );
    const found = (id: WayOut): number => [used.has(id), id in doneBy, id in undone].filter(Boolean).length;
    const wrong = ids.filter((id) => found(id) !== 1).map((id) => `${id}: ${found(id)}`);
    assert.deepEqual(wrong, []);
    const tests = Object.values(doneBy).filter(([file, title]) => !read(file).includes(title));
    assert.deepEqual(tests, []);
  });
});
