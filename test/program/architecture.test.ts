import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";

/** The lines of the picture of the rooms, each `FOLDER   SUBJECT   knows ROOM, ROOM`. */
const line = /^([a-z]+(?:\/[a-z]+)?)(?:, \S+)?\s+.*?\bknows (.+)$/;

describe("docs/architecture.md", () => {
  it("draws the arrows that the lint rule allows, and no others", () => {
    const allowed = JSON.parse(readFileSync(join(root, ".dependency-rooms.json"), "utf8")) as Record<string, string[]>;
    const lines = readFileSync(join(root, "docs", "architecture.md"), "utf8").split("\n");
    const drawn = lines
      .map((text) => line.exec(text))
      .filter((found) => found !== null)
      .map(([, room = "", known = ""]) => [room, known === "no other room" ? [] : known.split(", ").sort()]);
    const short = (folder: string): string => folder.replace(/^packages\//, "");
    const expected = Object.entries(allowed).map(([room, known]) => [room, known.map(short).sort()]);
    assert.deepEqual(Object.fromEntries(drawn), Object.fromEntries(expected));
  });
});
