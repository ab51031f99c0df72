import * as fc from "fast-check";
import { DelayNetwork, delayNetwork, maximumDelayMs } from "@rabbitmq-delay/topology";

/** Any network that a broker can hold. */
export const anyNetwork: fc.Arbitrary<DelayNetwork> = fc.oneof(
  fc
    .constantFrom("nservicebus", "nservicebus-v1", "celery")
    .map((preset) => delayNetwork({ preset: preset as "celery" })),
  fc
    .record({ preset: fc.constantFrom("nservicebus" as const, "nservicebus-v1" as const), parking: fc.boolean() })
    .map((options) => delayNetwork({ ...options, matching: "enforced" })),
  fc
    .record({
      radix: fc.constantFrom(2 as const, 4 as const, 8 as const, 16 as const),
      levels: fc.integer({ min: 1, max: 10 }),
      unitMs: fc.constantFrom(1, 10, 250, 1000),
      matching: fc.constantFrom("exact" as const, "suffix" as const),
      queueType: fc.constantFrom("quorum" as const, "classic" as const),
      parking: fc.boolean(),
    })
    .filter(({ radix, levels, unitMs }) => maximumDelayMs({ radix, levels, unitMs }) <= 315_360_000_000)
    .map((shape) => delayNetwork({ preset: "custom", prefix: "test", ...shape })),
);

/** A network and a delay that it can keep. */
export const networkAndDelay = anyNetwork.chain((network) =>
  fc.tuple(fc.constant(network), fc.integer({ min: 0, max: network.maximumDelayMs })),
);

/** Words of a topic, with some that look like digits or each other's ends. */
const word = fc.constantFrom("Sales", "Europe", "1", "0", "a", "Größe", "", "x-y");

/** Names of endpoints. */
export const endpointName = fc
  .array(word, { minLength: 1, maxLength: 4 })
  .map((words) => words.join("."))
  .filter((name) => name !== "");
