import { DelayNetwork, EncodedDelay, encodeDelay, maximumDestinationBytes } from "@rabbitmq-delay/topology";
import { randomNumbers } from "./random";
import type { Reason } from "./reason";
import { refusedProperty } from "./refused";

/** A delay and a destination, and the exchange and key that they become; or the argument that is refused. */
export interface Encoding {
  /** Index into `networks`. */
  network: number;
  delayMs: number;
  destination: string;
  /** How much longer the delay may be, as a fraction of it, for fewer hops. */
  tolerance: number;
  expected?: EncodedDelay;
  /** The argument that is refused: `delayMs`, `destination` or `tolerance`. */
  refused?: string;
  reason?: Reason;
}

const RANDOM = 1000;
const SEED = 20_260_401;

/** Edges of each network, and random delays on all of them. */
export function encodings(networks: DelayNetwork[]): Encoding[] {
  return [...networks.flatMap(edges), ...randomOnes(networks)];
}

function edges(network: DelayNetwork, index: number): Encoding[] {
  const { unitMs, maximumDelayMs } = network;
  const of = (delayMs: number, destination: string, tolerance: number, reason?: Reason): Encoding =>
    encoding(network, { network: index, delayMs, destination, tolerance }, reason);
  return [
    ...delaysOf(network).flatMap((delayMs) =>
      [0, 0.1, 1000].map((tolerance) =>
        of(delayMs, "Sales", tolerance, delayMs > maximumDelayMs ? "range" : undefined),
      ),
    ),
    ...destinationsOf(network).map(([destination, reason]) => of(unitMs, destination, 0, reason)),
    ...[-0.1, -1e-300].map((tolerance) => of(unitMs, "Sales", tolerance, "range")),
  ];
}

/** What is rounded up, what is exact, and what is too long. */
function delaysOf({ unitMs, radix, levels, maximumDelayMs }: DelayNetwork): number[] {
  const second = unitMs * radix;
  const short = [-1, 0, 0.5, 1, unitMs - 1, unitMs, unitMs + 1, second - 1, second, second + 0.5];
  const long = [maximumDelayMs - 1, maximumDelayMs, maximumDelayMs + 0.5, maximumDelayMs + 1, 9e14];
  return [...short, unitMs * radix ** (levels - 1), ...long];
}

/** Names, and why those of them are refused that are. */
function destinationsOf(network: DelayNetwork): [string, Reason?][] {
  const room = maximumDestinationBytes(network);
  return [
    ["", "empty"],
    ...["*", "#", "a.*", "a.#.b"].map((name): [string, Reason] => [name, "wildcard"]),
    ...["a/b", "a@b", "a\u0000b", "a\u007f"].map((name): [string, Reason] => [name, "character"]),
    ["amq.x", "reserved"],
    ...["*a", "a#", "a..b", ".", "amqx", "a b", "Ünï-çødé", "😀", "Lab.Orders:M"].map((name): [string] => [name]),
    ["x".repeat(room)],
    ["x".repeat(room + 1), "length"],
    ["é".repeat(Math.floor(room / 2))],
    ["é".repeat(Math.floor(room / 2) + 1), "length"],
    ["x".repeat(256), "length"],
  ];
}

/** Each order of magnitude is as likely as any other. */
function randomOnes(networks: DelayNetwork[]): Encoding[] {
  const random = randomNumbers(SEED);
  return Array.from({ length: RANDOM }, () => {
    const index = Math.floor(random() * networks.length);
    const network = networks[index] as DelayNetwork;
    const delayMs = Math.floor(Math.exp(random() * Math.log(network.maximumDelayMs * 1.05)));
    const tolerance = random() < 0.5 ? 0 : Math.round(random() * 500) / 1000;
    const destination = `endpoint.${Math.floor(random() * 1e6)}`;
    const reason = delayMs > network.maximumDelayMs ? "range" : undefined;
    return encoding(network, { network: index, delayMs, destination, tolerance }, reason);
  });
}

function encoding(network: DelayNetwork, given: Encoding, reason: Reason | undefined): Encoding {
  const encode = (): EncodedDelay =>
    encodeDelay(network, given.delayMs, given.destination, { tolerance: given.tolerance });
  return reason === undefined
    ? { ...given, expected: encode() }
    : { ...given, refused: refusedProperty(encode), reason };
}
