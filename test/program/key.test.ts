import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import type { DelayNetwork } from "@rabbitmq-delay/topology";
import type { Encoding } from "../../clients/vectors/encodings";
import type { Vectors } from "../../clients/vectors/vectors";
import { root } from "../../toolchain/dist/paths";

interface Route {
  exchange: string;
  routingKey: string;
}

const page = readFileSync(join(root, "docs", "key.md"), "utf8");
const { networks, encodings } = JSON.parse(readFileSync(join(root, "clients", "vectors.json"), "utf8")) as Vectors;

/** The page's only code block. */
const code = /^```js\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
const route = runInNewContext(`(${code})`) as (network: DelayNetwork, delayMs: number, destination: string) => Route;
const routed = (network: number, delayMs: number, destination: string): Route => ({
  ...route(networks[network] as DelayNetwork, delayMs, destination),
});

describe("docs/key.md", () => {
  it("tells the rule in at most twelve lines, which give each vector's exchange and key", () => {
    assert.ok(code.trim().split("\n").length <= 12, code);
    const accepted = encodings.filter(({ expected }) => expected !== undefined);
    assert.ok(accepted.length > 1600);
    for (const { network, delayMs, destination, tolerance, expected } of accepted) {
      const { exchange, routingKey, delayMs: taken } = expected as NonNullable<Encoding["expected"]>;
      // The page has no tolerance: what it would choose is asked for.
      const asked = tolerance === 0 ? delayMs : taken;
      assert.deepEqual(routed(network, asked, destination), { exchange, routingKey }, `${asked} ${routingKey}`);
    }
  });

  it("refuses each delay that is too long", () => {
    const tooLong = encodings.filter(({ refused }) => refused === "delayMs");
    assert.ok(tooLong.length > 50);
    for (const { network, delayMs, destination } of tooLong)
      assert.throws(() => routed(network, delayMs, destination), { name: "RangeError" }, `${delayMs}`);
  });

  it("prints five vectors as they are in the file", () => {
    const rows = page.split("\n").filter((line) => /` +\|$/.test(line));
    assert.equal(rows.length, 5);
    const known = new Set(
      encodings
        .filter(({ expected, tolerance }) => expected !== undefined && tolerance === 0)
        .map(({ network, delayMs, destination, expected }) => {
          const { radix, levels, unitMs } = networks[network] as DelayNetwork;
          return [radix, levels, unitMs, delayMs, destination, expected?.exchange, expected?.routingKey].join(" ");
        }),
    );
    for (const row of rows) {
      const cells = row.split("|").slice(1, -1);
      assert.ok(known.has(cells.map((cell) => cell.trim().replaceAll("`", "")).join(" ")), row);
    }
  });
});
