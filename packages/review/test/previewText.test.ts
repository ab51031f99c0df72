import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";
import { parsePreview } from "../dist/preview/preview";
import { queueStep } from "./steps";

const plan = { steps: [queueStep("create", "orders")] };
const pretty = JSON.stringify(plan, undefined, 4);

describe("the text of a preview", () => {
  // "Not JSON, or cut off", with a policy pack or a new version of the engine.
  it("may have other lines before and after it", () => {
    const before = "warning: A new version of Pulumi is available.\n  {not: json}\n";
    const after = "\nPolicies:\n    { } all passed\n";
    for (const json of [pretty, JSON.stringify(plan)])
      for (const text of [
        json,
        before + json,
        json + after,
        before + json + after,
        `\uFEFF${json}`,
        json.replaceAll("\n", "\r\n"),
      ])
        assert.equal(parsePreview(text, "plan.json").steps.length, 1, text.slice(0, 60));
  });

  it("is refused by its name where it has another format, or more than one plan", () => {
    const event = JSON.stringify({ sequence: 0, timestamp: 1, preludeEvent: {} });
    for (const text of [`${event}\n${event}\n`, event])
      assert.throws(() => parsePreview(text, "plan.json"), /plan\.json is a log of the engine's events/);
    // Newer engines print this line; resources were added to it later.
    const resources = [{ urn: "urn:pulumi:a::b::c::d", type: "c", name: "d", op: "create" }];
    for (const summary of [{}, { summary: { create: 1 } }, { summary: { create: 1 }, resources }]) {
      const text = `warning: A new version of Pulumi is available.\n${JSON.stringify({ result: "succeeded", duration: 2e9, ...summary })}\n`;
      assert.throws(
        () => parsePreview(text, "plan.json"),
        /plan\.json is a summary of the engine's \(pulumi preview --output json\); give the plan: pulumi preview --json /,
      );
    }
    assert.throws(() => parsePreview(`${pretty}\n${pretty}`, "plan.json"), /more than one JSON document/);
    assert.throws(
      () => parsePreview("Previewing update (dev):\n", "plan.json"),
      /is not JSON, or cut off \(24 characters\)/,
    );
  });

  it("is refused where a large one is cut off, instead of being read for hours", () => {
    const steps = Array.from({ length: 20_000 }, (_, index) => queueStep("same", `q${index}`));
    const text = JSON.stringify({ steps }, undefined, 4).slice(0, -10);
    assert.throws(() => parsePreview(text, "plan.json"), /cut off/);
  });

  // PowerShell's `>` writes this.
  it("may be UTF-16 in a file", async () => {
    const mark = "\uFEFF";
    const swapped = Buffer.from(mark + pretty, "utf16le").swap16();
    for (const [name, bytes] of [
      ["utf16le", Buffer.from(mark + pretty, "utf16le")],
      ["utf16be", swapped],
      ["utf8", Buffer.from(mark + pretty, "utf8")],
    ] as const) {
      const file = join(temporaryFolder(), `${name}.json`);
      writeFileSync(file, bytes);
      const { code, out, err } = await runCommand(["review", file, "--format", "json"]);
      assert.equal(code, 0, err);
      assert.equal((JSON.parse(out) as { verdict: string }).verdict, "safe", name);
    }
  });
});
