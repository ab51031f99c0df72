import { delayNetwork, encodeDelay } from "rabbitmq-delay-topology";
import { report } from "./statistics";

const CALLS = 200_000;
const REPETITIONS = 9;
const network = delayNetwork({ preset: "nservicebus" });
/** Delays of a fixed pseudo-random sequence, up to the network's maximum. */
const delaysMs = Array.from({ length: 1024 }, (_, index) => ((index * 2_654_435_761) % 268_435_455) * 1000);

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

/** Nanoseconds and bytes per call; the key is written out, as a client library does. */
function measure(encode: (delayMs: number, destination: string) => { routingKey: string }): {
  ns: number;
  bytes: number;
} {
  const sink = Buffer.alloc(256);
  global.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const start = process.hrtime.bigint();
  for (let index = 0; index < CALLS; index++) {
    sink.write(encode(delaysMs[index % delaysMs.length] as number, "some-address").routingKey, "latin1");
  }
  const ns = Number(process.hrtime.bigint() - start) / CALLS;
  return { ns, bytes: (process.memoryUsage().heapUsed - heap) / CALLS };
}

/** `encodeDelay` against a straightforward join of binary digits. */
export function benchEncode(): void {
  console.log(`encodeDelay, 28 binary levels, ${CALLS} calls, ${REPETITIONS} repetitions (min / median / max)`);
  const ours = (delayMs: number, destination: string): { routingKey: string } =>
    encodeDelay(network, delayMs, destination);
  for (let warm = 0; warm < 3; warm++) [ours, straightforward].forEach(measure);
  const runs = Array.from({ length: REPETITIONS }, () => ({ ours: measure(ours), theirs: measure(straightforward) }));
  report(
    "encodeDelay",
    runs.map((run) => run.ours.ns),
    "ns",
    0,
  );
  report(
    "join of binary digits",
    runs.map((run) => run.theirs.ns),
    "ns",
    0,
  );
  report(
    "ratio (join / encodeDelay; aim at least 3)",
    runs.map((run) => run.theirs.ns / run.ours.ns),
    "times",
  );
}
