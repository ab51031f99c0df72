import { strict as assert } from "node:assert";
import { join } from "node:path";
import * as fc from "fast-check";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { toSendable } from "../dist/sendable";
import { ClientLibrary } from "../dist/clientLibrary";

/** The libraries' own encoders, which neither of them exports. */
const modules = join(__dirname, "../../../node_modules");
// eslint-disable-next-line @typescript-eslint/no-require-imports -- files inside the packages, which have no types
const load = (file: string): unknown => require(join(modules, file));
const amqplib = load("amqplib/lib/codec.js") as {
  encodeTable(buffer: Buffer, table: object, offset: number): number;
  decodeFields(fields: Buffer): Record<string, unknown>;
};
const rabbitmqClient = load("rabbitmq-client/lib/codec.js") as {
  FrameType: { HEADER: number };
  encodeFrame(frame: object, maximumBytes: number): Buffer;
  decodeFrame(read: (bytes: number) => Promise<Buffer>): Promise<{ fields: Record<string, unknown> }>;
};

const libraries: ClientLibrary[] = [
  { name: "amqplib", maximumPropertiesBytes: 65_536 - 128 },
  { name: "rabbitmq-client", maximumPropertiesBytes: 8192 - 128 },
];

/** Anything that JavaScript has, and much of what a header usually holds. */
const anyHeaders = fc.oneof(
  fc.dictionary(fc.string({ unit: "grapheme", maxLength: 300 }), fc.anything({ withBigInt: true, withDate: true })),
  fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 50 }),
  fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5000 }), { maxKeys: 30 }),
  fc.dictionary(
    fc.string({ maxLength: 5 }),
    fc.oneof(fc.double(), fc.bigInt(), fc.uint8Array(), fc.constant(undefined)),
  ),
  fc.anything(),
);
/** Mostly what can be sent, so that it is seen on its way back. */
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: usual as fc.Arbitrary<unknown>, weight: 9 }, { arbitrary: fc.anything(), weight: 1 });
const anyProperties = fc.record(
  {
    headers: mostly(anyHeaders),
    messageId: mostly(fc.string({ unit: "grapheme", maxLength: 100 })),
    priority: mostly(fc.integer({ min: -10, max: 300 })),
    timestamp: mostly(fc.integer({ min: -10, max: 2 ** 31 })),
  },
  { requiredKeys: [] },
);

/** What the library makes of properties, read back. */
async function throughLibrary({ name }: ClientLibrary, properties: Record<string, unknown>): Promise<unknown> {
  if (name === "amqplib") {
    const scratch = Buffer.alloc(65_536);
    const bytes = amqplib.encodeTable(scratch, (properties.headers ?? {}) as object, 0);
    assert.ok(bytes <= scratch.length, `${bytes} bytes were cut off`);
    return amqplib.decodeFields(scratch.subarray(4, bytes));
  }
  const { HEADER: type } = rabbitmqClient.FrameType;
  const frame = rabbitmqClient.encodeFrame({ type, channelId: 1, bodySize: 0, fields: properties }, 8192);
  let at = 0;
  const { fields } = await rabbitmqClient.decodeFrame((bytes) => Promise.resolve(frame.subarray(at, (at += bytes))));
  return fields.headers ?? {};
}

/** Values in amqplib's notation as it reads them back. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Object.is(value, -0)) return 0;
  if (typeof value === "string") return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return value;
  if (Object.hasOwn(value, "!")) return (value as { value: unknown }).value;
  // Both libraries read a table by assignment, by which an entry of this name is none: it is sent, and no client of theirs can read it.
  const entries = Object.entries(value).filter(([key]) => key !== "__proto__");
  return Object.fromEntries(entries.map(([key, part]) => [Buffer.from(key).toString(), plain(part)]));
}

describe("properties on their way out", () => {
  for (const library of libraries) {
    it(`are refused, or are what ${library.name} encodes and reads back, whatever they are`, async () => {
      let sent = 0;
      await fc.assert(
        fc.asyncProperty(anyProperties, async (given) => {
          let properties: Record<string, unknown>;
          try {
            properties = toSendable(given as object, library) as Record<string, unknown>;
          } catch (error) {
            assert.ok(error instanceof MessageRefusedError, String(error));
            return;
          }
          sent++;
          const found = await throughLibrary(library, properties);
          assert.deepEqual(plain(found), plain(properties.headers ?? {}));
        }),
        { numRuns: 2000 },
      );
      assert.ok(sent > 200, `only ${sent} could be sent`);
    });

    it(`are copied once for all with ${library.name}: a copy of a copy is the same`, () => {
      const headers = { count: 5n, list: [1, { deep: "x" }], half: 0.5, nothing: null };
      const once = toSendable({ headers, priority: 1 }, library);
      assert.deepEqual(toSendable(once, library), once);
    });
  }

  it("go without the headers that the broker writes, and keep those of others", () => {
    const [library] = libraries as [ClientLibrary];
    const broker = {
      "x-death": [{ count: 1, queue: "a" }],
      "x-first-death-queue": "a",
      "x-last-death-reason": "expired",
      "x-delivery-count": 3,
      "x-acquired-count": 3,
    };
    const kept = { "x-delay": 5000, "MT-Redelivery-Count": 1, tenant: "a", deep: { "x-death": "a user's own" } };
    assert.deepEqual(toSendable({ headers: { ...broker, ...kept } }, library).headers, kept);
  });

  it("show no value of a header in an error, because it may be secret", () => {
    const [library] = libraries as [ClientLibrary];
    class Password {
      readonly [Symbol.toStringTag] = "Secret";
      toString = (): string => "hunter2";
    }
    for (const secret of [new Password(), { "!": "hunter2", value: "hunter2" }, "hunter2".repeat(20_000)]) {
      assert.throws(
        () => toSendable({ headers: { authorization: secret } }, library),
        (error: Error) => error instanceof MessageRefusedError && !error.message.includes("hunter2"),
      );
    }
  });

  it("are counted as they are written, so that what fits is taken", () => {
    const small = Array.from({ length: 25_000 }, (_, index) => index % 100);
    const [amqplibRules] = libraries as [ClientLibrary];
    assert.deepEqual(toSendable({ headers: { small } }, amqplibRules).headers, { small });
    const scratch = Buffer.alloc(65_536);
    const headers = { a: [0, -129, 40_000, 2 ** 40, 0.5, "Größe", true, null, [[]], { b: Buffer.from("c") }] };
    const bytes = amqplib.encodeTable(scratch, headers, 0);
    assert.doesNotThrow(() => toSendable({ headers }, { name: "amqplib", maximumPropertiesBytes: bytes }));
    assert.throws(() => toSendable({ headers }, { name: "amqplib", maximumPropertiesBytes: bytes - 1 }), /at most/);
  });

  // It went out as infinite, which nobody had said, and which this package takes from no one.
  it("refuse a number that its own type can't hold", () => {
    const [amqplibOnly] = libraries as [ClientLibrary];
    const largest = Math.fround(3.4028234663852886e38);
    for (const value of [1e300, -1e300, largest * 1.1, Infinity, Number.NaN]) {
      assert.throws(
        () => toSendable({ headers: { h: { "!": "float", value } } }, amqplibOnly),
        /headers\.h: .*of that type/,
      );
    }
    for (const typed of [
      { "!": "float", value: largest },
      { "!": "double", value: Number.MAX_VALUE },
    ]) {
      assert.deepEqual(toSendable({ headers: { h: typed } }, amqplibOnly).headers, { h: typed });
    }
  });

  it("refuse a circle", () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const library of libraries)
      assert.throws(() => toSendable({ headers: circle }, library), /nested so deeply, nor in a circle/);
  });
});
