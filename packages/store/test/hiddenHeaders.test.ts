import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ChannelModel } from "amqplib";
import * as fc from "fast-check";
import { REPLACEMENT, hideHeaders } from "../dist/broker/hiddenHeaders";

type Fields = Record<string, unknown>;

/** amqplib's codec, which it does not export. */
const load = createRequire(__filename);
const library = join(dirname(load.resolve("amqplib")), "lib");
const { encodeProperties } = load(join(library, "defs.js")) as {
  encodeProperties: (kind: number, channel: number, size: number, fields: Fields) => Buffer;
};
const { decodeFrame, parseFrame } = load(join(library, "frame.js")) as {
  decodeFrame: (frame: unknown) => { fields: Fields };
  parseFrame: (bytes: Buffer) => unknown;
};

/** Decodes properties as a connection does that hides headers. */
function receive(sent: Fields): Fields {
  const reader = {
    rest: encodeProperties(60, 1, 5, sent),
    recvFrame: () => decodeFrame(parseFrame(reader.rest)).fields,
  };
  hideHeaders({ connection: reader } as unknown as ChannelModel);
  const fields = Object.entries(reader.recvFrame()).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields);
}

const leaf = fc.oneof(
  fc.string(),
  fc.constantFrom("\t__proto__S", "__proto__", "A", ""),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ min: -1e12, max: 1e12, noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)),
  fc.nat().map((value) => ({ "!": "timestamp", value })),
  fc.nat().map((digits) => ({ "!": "decimal", value: { places: 2, digits } })),
  fc.nat(255).map((value) => ({ "!": "unsignedbyte", value })),
  fc.nat(65_535).map((value) => ({ "!": "unsignedshort", value })),
  fc.nat().map((value) => ({ "!": "unsignedint", value })),
  fc.integer().map((value) => ({ "!": "float", value })),
);
const table = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("value"), { maxLength: 3 }), tie("table")),
  table: fc
    .dictionary(fc.string(), tie("value"), { maxKeys: 4, noNullPrototype: true })
    .filter((one) => !["__proto__", "!"].some((name) => Object.hasOwn(one, name))),
})).table as fc.Arbitrary<Fields>;

describe("hideHeaders", () => {
  it("leaves headers as they are that amqplib decodes, whichever properties are beside them", () => {
    const others = fc.record(
      { contentType: fc.string(), contentEncoding: fc.string(), messageId: fc.string(), timestamp: fc.nat() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(table, others, (headers, more) => {
        const sent = { ...more, headers };
        const plain = decodeFrame(parseFrame(encodeProperties(60, 1, 5, sent))).fields;
        assert.deepStrictEqual(
          receive(sent),
          Object.fromEntries(Object.entries(plain).filter(([, v]) => v !== undefined)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("hides tables and lists in more than 100 levels and any field named __proto__, with nothing else", () => {
    const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
      Array.from({ length: levels }).reduce<unknown>((inner) => wrap(inner), 1);
    const hidden: Fields[] = [
      { a: nested(100, (inner) => [inner]) },
      { a: nested(100, (inner) => ({ a: inner })) },
      { ["__proto__"]: null },
      { ["__proto__"]: "text" },
      { ["__proto__"]: { a: 1 } },
      { a: [{ b: { ["__proto__"]: 1 } }], "x-delay": 5 },
    ];
    for (const headers of hidden) {
      const { headers: received, ...others } = receive({ contentType: "text", headers, messageId: "id" });
      assert.deepEqual(others, { contentType: "text", messageId: "id" });
      assert.deepEqual(Object.keys(received as object), [REPLACEMENT]);
    }
    const deep = { a: nested(99, (inner) => [inner]), b: { proto: 1 } };
    assert.deepEqual(receive({ headers: deep }).headers, deep);
  });
});
