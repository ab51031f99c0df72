import { Random } from "../random";
import { drawFaults, faultWeights } from "./drawFaults";
import { drawHold } from "./drawHold";
import { WORKLOAD_MS } from "./drawMessages";
import { drawNetwork } from "./drawNetwork";
import { drawRetry } from "./drawRetry";
import { drawStore } from "./drawStore";
import { BrokerLine, FaultKind, Mechanism, Part, Plan, PlannedFault, RetryWay, mistakes } from "./types";

/** What a run is aimed at. */
export interface Aim {
  /** Only these are drawn. */
  only?: Mechanism[];
  /** Only these faults are drawn. */
  faults?: FaultKind[];
  /** Only these ways to retry. */
  ways?: RetryWay[];
  /** Only this broker. */
  broker?: BrokerLine;
}

/** Rounds on one broker before the other's turn: starting one takes as long as a round. */
const ROUNDS_A_BROKER = 4;

const mechanismWeights: Record<Mechanism, number> = {
  network: 4,
  retry: 4,
  hold: 2,
  store: 4,
  gateway: 2,
  command: 0.7,
};

/** The broker of a seed's round. */
export function brokerOf(seed: number, aim: Aim = {}): BrokerLine {
  return aim.broker ?? (Math.floor(seed / ROUNDS_A_BROKER) % 2 === 0 ? "3.10" : "4.3");
}

/** Draws a round; the same seed and aim always give the same plan. */
export function drawPlan(seed: number, aim: Aim = {}): Plan {
  const random = new Random(seed);
  const broker = brokerOf(seed, aim);
  const only = aim.only;
  const weights = Object.fromEntries(
    Object.entries(mechanismWeights).filter(([mechanism]) => only?.includes(mechanism as Mechanism) ?? true),
  ) as Partial<Record<Mechanism, number>>;
  const count = random.whole(1, 3);
  const parts: Part[] = [];
  for (let index = 0; index < count; index++) {
    const mechanism = random.weighted(weights);
    parts.push(drawPart(random, mechanism, String.fromCharCode(97 + index), broker, parts, aim));
  }
  const wanted = aim.faults;
  const chosen =
    wanted === undefined ? faultWeights : Object.fromEntries(wanted.map((kind) => [kind, faultWeights[kind]]));
  return { seed, broker, parts, faults: drawFaults(random, parts, chosen) };
}

function drawPart(
  random: Random,
  mechanism: Mechanism,
  name: string,
  broker: BrokerLine,
  others: Part[],
  aim: Aim,
): Part {
  switch (mechanism) {
    case "network":
      return drawNetwork(random, name, broker);
    case "retry":
      return drawRetry(random, name, broker, aim.ways);
    case "hold":
      return drawHold(random, name);
    case "store":
      // There is one PostgreSQL, whose faults are those of one part.
      return drawStore(
        random,
        name,
        others.every((part) => part.mechanism !== "store" || part.database !== "postgres"),
      );
    case "gateway":
      return { ...drawStore(random, name, false), database: "network", requests: [] };
    case "command":
      return {
        mechanism,
        name,
        mistakes: random
          .some(mistakes, random.whole(1, 3))
          .map((mistake) => ({ mistake, atMs: random.whole(0, WORKLOAD_MS) })),
      };
  }
}

/** A plan in one line: what was drawn. */
export function describePlan({ parts, faults }: Plan): string {
  const said = parts.map(describePart);
  const bad = faults.map(describeFault);
  return `${said.join(" + ")}; ${bad.length === 0 ? "no faults" : bad.join(", ")}`;
}

function describeFault({ kind, times, byMs }: PlannedFault): string {
  const size = byMs === undefined ? "" : ` by ${byMs} ms`;
  return `${kind}${size}${times === undefined ? "" : ` ×${times}`}`;
}

function describePart(part: Part): string {
  switch (part.mechanism) {
    case "network": {
      const { preset, radix, unitMs, matching, parking } = part.network;
      const shape = preset === "custom" ? `radix ${radix}, ${unitMs} ms` : preset;
      return `network (${shape}, ${matching}${parking === false ? ", no parking" : ""}, ${part.endpoints.length} endpoints, ${part.messages.length} messages)`;
    }
    case "retry":
      return `retries (${part.way}, ${part.messages.length} messages)`;
    case "hold":
      return `holds (${part.isDeclared ? "declared" : "on demand"}, ${part.messages.length} messages)`;
    case "store":
      return `${part.database === "network" ? "gateway" : "store"} (${part.database}, ${part.messages.length} messages, ${part.requests.length} requests)`;
    case "command":
      return `command (${part.mistakes.map(({ mistake }) => mistake).join(", ")})`;
  }
}
