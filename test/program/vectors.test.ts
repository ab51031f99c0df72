import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  DelayNetwork,
  DelayTopologyError,
  EntityPlan,
  decodeRoutingKey,
  encodeDelay,
  parseDelayNetwork,
  parseRetryIntervals,
} from "@rabbitmq-delay/topology";
import { networkPlan, renderDefinitions } from "rabbitmq-delay/testing";
import { vectorsText } from "../../clients/vectors/file";
import type { Encoding } from "../../clients/vectors/encodings";
import type { Reason } from "../../clients/vectors/reason";
import type { RefusedDescriptor } from "../../clients/vectors/refusals";
import type { Vectors } from "../../clients/vectors/vectors";
import { walk } from "../../packages/topology/test/walk";
import { root } from "../../toolchain/dist/paths";

/** As they are in the file, whose numbers and texts are compared with rules that are written here once more. */
const text = readFileSync(join(root, "clients", "vectors.json"), "utf8");
const vectors = JSON.parse(text) as Vectors;
const networkOf = ({ network }: { network: number }): DelayNetwork => vectors.networks[network] as DelayNetwork;
const show = (vector: object): string => JSON.stringify(vector).slice(0, 300);

describe("the vectors for clients in other languages", () => {
  it("are current; make vectors writes them anew", () => {
    // Not by assert.equal, which would print half a megabyte.
    assert.ok(text === vectorsText(), "clients/vectors.json is out of date");
  });

  it("cover each preset, radix, queue type, way to match and version, with parking and without", () => {
    const found = (property: keyof DelayNetwork): unknown[] =>
      [...new Set(vectors.networks.map((network) => network[property]))].sort();
    assert.deepEqual(found("preset"), ["celery", "custom", "nservicebus", "nservicebus-v1"]);
    assert.deepEqual(found("radix"), [16, 2, 4, 8]);
    assert.deepEqual(found("queueType"), ["classic", "quorum"]);
    assert.deepEqual(found("matching"), ["enforced", "exact", "suffix"]);
    assert.deepEqual(found("version"), [1, 2]);
    assert.deepEqual(found("vhost"), ["/", "orders", undefined]);
    assert.ok(vectors.networks.some(({ parkingQueue }) => parkingQueue === undefined));
    assert.ok(text.length < 600_000, `${text.length} bytes`);
  });

  it("have keys whose digits add up to a delay that is never early, and less than a unit late without tolerance", () => {
    const taken = vectors.encodings.filter(({ expected }) => expected !== undefined);
    assert.ok(taken.length > 1600);
    for (const vector of taken) checkKey(vector);
  });

  it("refuse delays, names and tolerances for the reason that they give", () => {
    const refused = vectors.encodings.filter(({ expected }) => expected === undefined);
    assert.deepEqual([...new Set(refused.map((vector) => vector.refused))].sort(), [
      "delayMs",
      "destination",
      "tolerance",
    ]);
    for (const vector of refused) {
      const { refused: property, delayMs, destination, tolerance, reason } = vector;
      const { maximumDelayMs, levels } = networkOf(vector);
      if (property === "destination") assert.equal(reason, whyNoDestination(destination, levels), show(vector));
      else if (property === "delayMs") assert.ok(reason === "range" && delayMs > maximumDelayMs, show(vector));
      else assert.ok(reason === "range" && tolerance < 0, show(vector));
      assert.throws(() => encode(vector), { name: "DelayTopologyError", property }, show(vector));
    }
  });

  it("take interval queues' own delays, and no other", () => {
    const { prefix, intervalsMs } = vectors.intervals;
    for (const { delayMs, exchange, refused } of vectors.routes) {
      assert.equal(exchange, intervalsMs.includes(delayMs) ? `${prefix}-${delayMs}` : undefined);
      assert.equal(refused, exchange === undefined ? "delayMs" : undefined);
    }
    assert.ok(intervalsMs.every((delayMs) => vectors.routes.some((route) => route.delayMs === delayMs)));
  });

  /** By which the broker tells where a message has been, and how often it was delivered. */
  const received = [
    ...["x-acquired-count", "x-death", "x-delivery-count"],
    ...["x-first-death-exchange", "x-first-death-queue", "x-first-death-reason"],
    ...["x-last-death-exchange", "x-last-death-queue", "x-last-death-reason"],
  ];

  it("have NServiceBus's headers on its networks alone, and a due time on all", () => {
    for (const vector of vectors.headers) {
      const { preset, unitMs } = networkOf(vector);
      const delayMs = Math.ceil(vector.delayMs / unitMs) * unitMs;
      const sentAt = new Date(vector.sentAt);
      const due = { type: "text", value: new Date(sentAt.getTime() + delayMs).toISOString() };
      const sent = vector.sentAt.replace("T", " ").replace(/\.(\d{3})Z$/, ":$1000 Z");
      const isNServiceBus = preset.startsWith("nservicebus");
      const delay = "NServiceBus.Transport.RabbitMQ.DelayInSeconds";
      assert.deepEqual(
        vector.expected,
        {
          "rabbitmq-delay.due-at": due,
          ...(isNServiceBus ? { "NServiceBus.TimeSent": { type: "text", value: sent } } : {}),
          ...(isNServiceBus && delayMs > 0 ? { [delay]: { type: "int32", value: delayMs / 1000 } } : {}),
        },
        show(vector),
      );
      const isFirst = vector === vectors.headers.find(({ network }) => network === vector.network);
      assert.deepEqual(
        [...vector.removed].sort(),
        [
          ...(isFirst ? [...received, ...Object.keys(vector.expected)] : []),
          ...(isNServiceBus && delayMs === 0 ? [delay] : []),
        ].sort(),
        show(vector),
      );
    }
  });

  it("have descriptors of which each has the fault that it is refused for", () => {
    for (const vector of vectors.refusals) {
      const error = refusalOf(vector);
      assert.equal(error.property, vector.refused, show(vector));
      assert.equal(reasonOf(vector, error), vector.reason, show(vector));
    }
    const found = new Set(vectors.refusals.map(({ refused }) => refused.replace(/^network\.|\[.*/g, "")));
    const unnamed = Object.keys(vectors.networks[0] as DelayNetwork).filter((property) => !found.has(property));
    assert.deepEqual(unnamed, [], "each property of a network is refused once");
  });

  it("have definitions that delay a message as its key says", () => {
    for (const { descriptor, definitions } of Object.values(vectors.topologies)) {
      const plan = planIn(definitions);
      if (descriptor.kind === "retry-intervals") {
        const waits = plan.queues.map((queue) => queue.arguments["x-message-ttl"]);
        assert.deepEqual(waits, descriptor.intervalsMs);
        continue;
      }
      const network = descriptor as DelayNetwork;
      assert.deepEqual(definitions, renderDefinitions(networkPlan(network, []), "cd-vhost"));
      const source = network.bindingExchange;
      const routingKey = `${"*.".repeat(descriptor.levels)}Sales`;
      const endpoint = { source, destination: "Sales", destinationType: "queue" as const, routingKey };
      for (const delayMs of [0, 1, 300, descriptor.maximumDelayMs]) {
        const { exchange, routingKey: key, delayMs: kept, hops } = encodeDelay(descriptor, delayMs, "Sales");
        assert.deepEqual(walk(plan, [endpoint], exchange, key), [{ queue: "Sales", waitedMs: kept, hops }]);
      }
    }
  });
});

function encode(vector: Encoding): unknown {
  const { delayMs, destination, tolerance } = vector;
  return encodeDelay(networkOf(vector), delayMs, destination, { tolerance });
}

function checkKey(vector: Encoding): void {
  const network = networkOf(vector);
  const { delayMs, destination, tolerance, expected } = vector;
  assert.ok(expected !== undefined);
  const { levels, radix, unitMs, maximumDelayMs, entryExchanges } = network;
  const words = expected.routingKey.split(".");
  const digits = words.slice(0, levels).map((word) => parseInt(word, radix));
  assert.equal(words.slice(levels).join("."), destination, show(vector));
  assert.ok(
    words.slice(0, levels).every((word, place) => word === (digits[place] as number).toString(radix)),
    show(vector),
  );
  // In integers without end, because the longest delays in a small unit are near the end of what a number counts exactly.
  const units = digits.reduce((sum, digit) => sum * BigInt(radix) + BigInt(digit), 0n);
  assert.equal(Number(units) * unitMs, expected.delayMs, show(vector));
  assert.equal(digits.filter((digit) => digit > 0).length, expected.hops, show(vector));
  const first = digits.findIndex((digit) => digit > 0);
  assert.equal(expected.level, first === -1 ? 0 : levels - 1 - first, show(vector));
  assert.equal(expected.exchange, entryExchanges[expected.level], show(vector));

  const asked = Math.max(0, delayMs);
  const roundedUp = Math.ceil(asked / unitMs) * unitMs;
  assert.ok(expected.delayMs >= asked && expected.delayMs <= maximumDelayMs, show(vector));
  assert.ok(expected.delayMs <= Math.max(roundedUp, asked * (1 + tolerance)), show(vector));
  if (tolerance === 0) assert.equal(expected.delayMs, roundedUp, show(vector));
  assert.deepEqual(encode(vector), expected, show(vector));
  assert.deepEqual(decodeRoutingKey(network, expected.routingKey), { delayMs: expected.delayMs, destination });
}

/** Why a routing key can't have this destination after the digits of so many levels. */
function whyNoDestination(name: string, levels: number): Reason | undefined {
  if (name === "") return "empty";
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[@/\u0000-\u001f\u007f]/.test(name)) return "character";
  if (name.startsWith("amq.")) return "reserved";
  if (/(^|\.)[*#](\.|$)/.test(name)) return "wildcard";
  return new TextEncoder().encode(name).length > 255 - 2 * levels ? "length" : undefined;
}

function refusalOf({ kind, json }: RefusedDescriptor): DelayTopologyError {
  const parse: (value: unknown) => unknown = kind === "delay-network" ? parseDelayNetwork : parseRetryIntervals;
  try {
    parse(JSON.parse(json));
  } catch (error) {
    if (error instanceof DelayTopologyError) return error;
    throw error;
  }
  throw new Error(`taken: ${json}`);
}

/** The reason of a refusal, by the refused value and by the words of the error. */
function reasonOf({ kind, json, refused }: RefusedDescriptor, { allowed, value }: DelayTopologyError): Reason {
  const given = JSON.parse(json) as Record<string, unknown>;
  const property = refused.replace(/^\w+\.|\[.*/g, "");
  const sound: object = kind === "delay-network" ? (vectors.networks[0] as DelayNetwork) : vectors.intervals;
  const usual = (sound as Record<string, unknown>)[property];
  if (usual === undefined) return "unknown";
  if (given[property] === undefined) return "missing";
  if (typeof given[property] !== typeof usual) return "type";
  const known: [RegExp, Reason][] = [
    [
      /go together|is for the presets|classic queues can't|stands in the list already|has version 2|for this shape/,
      "contradiction",
    ],
    [/^it must be the \d+ exchanges/, "contradiction"],
    [/it must be one of|it must be "|this release reads/, "choice"],
    [/whole number from|at most \d+ levels/, "range"],
    [/non-empty text|at least one/, "empty"],
    [/must not contain/, "character"],
    [/belong to the broker/, "reserved"],
  ];
  if (/fixed names and arguments|with its other properties/.test(allowed)) {
    return ["bindingExchange", "returnExchange"].includes(property) ? "contradiction" : "fixed";
  }
  const found = known.find(([words]) => words.test(allowed));
  assert.ok(found !== undefined, `${allowed}: ${String(value)}`);
  return found[1];
}

/** The entities of definitions, as a plan has them. */
function planIn(definitions: object): EntityPlan {
  const { exchanges, queues, bindings } = definitions as Pick<EntityPlan, "exchanges" | "queues"> & {
    bindings: { source: string; destination: string; destination_type: "queue" | "exchange"; routing_key: string }[];
  };
  const planned = bindings.map(({ source, destination, destination_type, routing_key }) => ({
    source,
    destination,
    destinationType: destination_type,
    routingKey: routing_key,
  }));
  return { exchanges, queues, bindings: planned };
}
