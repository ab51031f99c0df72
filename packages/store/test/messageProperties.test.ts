import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { propertiesFromJson, propertiesToJson } from "../dist/messageProperties";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\0", "a\0b", "\ud800", "!", "rabbitmq-delay.bytes", "rabbitmq-delay.entries", "value", "__proto__"),
);
const leaf = fc.oneof(
  text,
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.bigInt(),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie("value"), { maxLength: 3 }), tie("table")),
  table: fc
    .dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true })
    .filter((table) => !Object.hasOwn(table, "__proto__")),
})).table as fc.Arbitrary<unknown>;

describe("propertiesToJson", () => {
  it("gives all values back, in what PostgreSQL's jsonb takes", () => {
    fc.assert(
      fc.property(value, (headers) => {
        const json = propertiesToJson({ headers: headers as Record<string, unknown> });
        assert.ok(!/\\u0000|\\ud[89a-f]/i.test(json), json);
        assert.deepStrictEqual(propertiesFromJson(json).headers, headers);
        assert.deepStrictEqual(propertiesFromJson(JSON.parse(json)).headers, headers);
      }),
      { numRuns: 500 },
    );
  });

  it("gives back numbers that JSON lacks", () => {
    for (const value of [-0, NaN, Infinity, -Infinity, 2n ** 70n]) {
      assert.deepStrictEqual(propertiesFromJson(propertiesToJson({ headers: { value } })).headers, { value });
    }
  });

  it("reads what earlier releases wrote of names that PostgreSQL does not take", () => {
    const name = { "!": "rabbitmq-delay.text", value: Buffer.from("a\0", "utf16le").toString("base64") };
    const entries = [
      [name, 1],
      ["value", { "!": "rabbitmq-delay.number", value: "-0" }],
    ];
    const json = { headers: { "!": "rabbitmq-delay.entries", value: entries } };
    assert.deepStrictEqual(propertiesFromJson(json).headers, { "a\0": 1, value: -0 });
  });

  it("does not take a publisher's table for one of its own", () => {
    for (const table of [
      { "!": "rabbitmq-delay.bytes", value: 5 },
      { "!": "rabbitmq-delay.entries", value: "x" },
      { "!": "rabbitmq-delay.number", value: null },
      { "!": "timestamp", value: 5 },
    ]) {
      assert.deepEqual(propertiesFromJson(propertiesToJson({ headers: { table } })).headers, { table });
    }
  });
});
