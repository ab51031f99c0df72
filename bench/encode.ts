import { EncodedDelay, delayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import { report } from "./statistics";

const CALLS = 200_000;
const REPETITIONS = 9;
const ALLOCATION_CALLS = 1000;
const network = delayNetwork({ preset: "nservicebus" });
/** Delays of a fixed pseudo-random sequence, up to the network's maximum. */
const delaysMs = Array.from({ length: 1024 }, (_, index) => ((index * 2_654_435_761) % 268_435_455) * 1000);

const pieces = ["0.0.0.0.", "0.0.0.0.0.0.0.1.", "0.1.0.1.0.1.0.1.", "1.1.1.1.0.0.0.0."];

/** What one would write at first: a list of binary digits, joined. */
function straightforward(delayMs: number, destination: string): { exchange: string; routingKey: string } {
  const seconds = Math.ceil(delayMs / 1000);
  const digits = seconds.toString(2).padStart(28, "0").split("");
  const level = Math.max(0, 27 - digits.indexOf("1"));
  return {
    exchange: `nsb.v2.delay-level-${String(level).padStart(2, "0")}`,
    routingKey: `${digits.join(".")}.${destination}`,
  };
}

/** The least that any encoder allocates: the key, put together from texts that exist, and the object that carries it. */
function keyAlone(_delayMs: number, destination: string): EncodedDelay {
  const [a, b, c, d] = pieces as [string, string, string, string];
  return { exchange: a, routingKey: a + b + c + d + destination, level: 0, delayMs: 0, hops: 0 };
}

type Encode = (delayMs: number, destination: string) => { routingKey: string };

/** Nanoseconds per call; the key is written out, as a client library does. */
function nanosecondsOf(encode: Encode): number {
  const sink = Buffer.alloc(256);
  const start = process.hrtime.bigint();
  for (let index = 0; index < CALLS; index++) {
    sink.write(encode(delaysMs[index % delaysMs.length] as number, "some-address").routingKey, "latin1");
  }
  return Number(process.hrtime.bigint() - start) / CALLS;
}

/** Bytes allocated per call, over so few calls that no collection comes in between. */
function bytesOf(encode: Encode): number {
  const kept: unknown[] = new Array(ALLOCATION_CALLS).fill(undefined);
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < ALLOCATION_CALLS; index++)
    kept[index] = encode(delaysMs[index] as number, "some-address");
  return (process.memoryUsage().heapUsed - before) / ALLOCATION_CALLS;
}

/** `encodeDelay` against a straightforward join of binary digits. */
export function benchEncode(): void {
  console.log(`encodeDelay, 28 binary levels, ${CALLS} calls, ${REPETITIONS} repetitions (min / median / max)`);
  const ours = (delayMs: number, destination: string): { routingKey: string } =>
    encodeDelay(network, delayMs, destination);
  for (let warm = 0; warm < 3; warm++) [ours, straightforward].forEach(nanosecondsOf);
  const runs = Array.from({ length: REPETITIONS }, () => ({
    ours: { ns: nanosecondsOf(ours), bytes: bytesOf(ours) },
    theirs: { ns: nanosecondsOf(straightforward), bytes: bytesOf(straightforward) },
    keyAlone: bytesOf(keyAlone),
  }));
  const print = (what: string, pick: (run: (typeof runs)[number]) => number, unit: string, digits: number): void =>
    report(what, runs.map(pick), unit, digits);
  print("encodeDelay", (run) => run.ours.ns, "ns", 0);
  print("join of binary digits", (run) => run.theirs.ns, "ns", 0);
  print("ratio (join / encodeDelay; aim at least 3)", (run) => run.theirs.ns / run.ours.ns, "times", 2);
  print("allocated, encodeDelay", (run) => run.ours.bytes, "bytes", 0);
  print("allocated, a key of four texts in a result alone (bound)", (run) => run.keyAlone, "bytes", 0);
  print("allocated, join of binary digits", (run) => run.theirs.bytes, "bytes", 0);
}
