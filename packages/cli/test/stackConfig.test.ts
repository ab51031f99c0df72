import { strict as assert } from "node:assert";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readStackConfig } from "../dist/stackConfig";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2 };

function fileOf(config: unknown, project?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-config-"));
  if (project !== undefined) writeFileSync(join(folder, "Pulumi.yaml"), `name: ${project}\n`);
  const file = join(folder, "Pulumi.prod.yaml");
  writeFileSync(file, JSON.stringify({ config }));
  return file;
}

describe("a stack's config for check", () => {
  // "Cannot destructure property 'name' of 'object null'" named neither the file nor the property.
  it("names what is no object", () => {
    for (const [property, value, message] of [
      ["endpoints", [{ name: "A" }, null], /--config: endpoints\[1\] of \S+ is null; it must be an object/],
      ["workQueues", [null], /--config: workQueues\[0\] of \S+ is null/],
      ["delayedRetryQueues", ["a"], /--config: delayedRetryQueues\[0\] of \S+ is a string/],
      ["delayedStore", [], /--config: delayedStore of \S+ is a list/],
      ["broker", null, /--config: broker of \S+ is null/],
    ] as const) {
      const file = fileOf({ "rabbitmq-delay:network": network, [`rabbitmq-delay:${property}`]: value });
      assert.throws(() => readStackConfig(file), message);
    }
  });

  // Another provider's network took the place of the stack's own, and the check was of that one.
  it("takes the project's own values alone", () => {
    const both = { "rabbitmq-delay:network": network, "aws:network": { preset: "celery" }, "aws:endpoints": [null] };
    assert.equal(readStackConfig(fileOf(both)).network.preset, "custom");
    const renamed = { "shop:network": network, "aws:network": { preset: "celery" } };
    assert.equal(readStackConfig(fileOf(renamed, "shop")).network.preset, "custom");
    assert.throws(
      () => readStackConfig(fileOf(renamed)),
      /has a network of more than one project \(shop, aws\); put it beside its Pulumi\.yaml/,
    );
    assert.throws(() => readStackConfig(fileOf({ "aws:network": network }, "shop")), /has no network/);
    assert.equal(readStackConfig(fileOf({ "shop:network": network })).network.preset, "custom");
  });
});
