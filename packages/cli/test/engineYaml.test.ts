import { strict as assert } from "node:assert";
import { parseAsEngine } from "../dist/engineYaml";

// What Pulumi 3.220 answered by `pulumi config --json` for the same file.
describe("YAML as the engine reads it", () => {
  const readings: Record<string, unknown> = {
    "010": 8,
    "-010": -8,
    "0o10": 8,
    "-0o10": -8,
    "08": 8,
    "019": 19,
    "1_000": 1000,
    "1_0.5": 10.5,
    "0x1F": 31,
    "0xF_F": 255,
    "0b101": 5,
    "1e3": 1000,
    "1.e+3": 1000,
    ".5": 0.5,
    "5.": 5,
    "+5": 5,
    _1: "_1",
    "1:30": "1:30",
    "190:20:30": "190:20:30",
    yes: "yes",
    on: "on",
    y: "y",
    no: "no",
    True: true,
    "~": null,
    Null: null,
    "": null,
    "!!str 010": "010",
    '!!int "10"': 10,
  };
  for (const [written, read] of Object.entries(readings))
    it(`${JSON.stringify(written)} is ${JSON.stringify(read)}`, () =>
      assert.deepEqual(parseAsEngine(`v: ${written}\nw: ["a", ${written === "" ? "~" : written}]`), {
        v: read,
        w: ["a", read],
      }));

  it("has merge keys, and names that are numbers", () => {
    const text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a], z: 4}\n010: d";
    assert.deepEqual(parseAsEngine(text), {
      a: { x: 1, y: 2 },
      b: { x: 1, y: 3 },
      c: { x: 1, y: 2, z: 4 },
      8: "d",
    });
  });

  it("refuses what the engine makes another text of", () => {
    for (const written of ["2024-01-02", "2024-01-02T03:04:05Z", "2024-1-2 03:04:05", ".inf", "-.inf", ".NaN"]) {
      assert.throws(() => parseAsEngine(`v: ${written}`), { code: "TAG_RESOLVE_FAILED" }, written);
      assert.deepEqual(parseAsEngine(`v: "${written}"`), { v: written });
    }
  });
});
