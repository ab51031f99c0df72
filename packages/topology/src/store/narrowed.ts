import { MessageIntake, deliveryExchangesOf } from "./intake";

/** The part of a descriptor that says where its process may publish, and by which exchanges messages come. */
type Ways = Pick<MessageIntake, "forwards" | "exchanges" | "toQueues">;

/**
 * What a gateway or a store may no longer do with messages that wait already, in words.
 * @param before the descriptor that it had, as far as it can be read
 */
export function narrowedWays(before: unknown, after: Ways): string[] {
  const former = readWays(before);
  if (former === undefined) return [];
  const left = new Set(deliveryExchangesOf(after));
  const gone = deliveryExchangesOf(former).filter((exchange) => !left.has(exchange));
  const forwards = new Set(after.forwards.map(({ exchange }) => exchange));
  const unread = former.forwards.filter(({ exchange }) => !forwards.has(exchange));
  return [
    ...[...new Set(gone)].map((exchange) => `publish to ${exchange === "" ? "queues" : `exchange ${exchange}`}`),
    ...unread.map(({ exchange }) => `tell where messages of exchange ${exchange} go`),
  ];
}

function readWays(value: unknown): Ways | undefined {
  const { forwards, exchanges, toQueues } = (value ?? {}) as Partial<Record<keyof Ways, unknown>>;
  const isWays =
    Array.isArray(exchanges) &&
    Array.isArray(forwards) &&
    forwards.every((one: unknown) => typeof (one as Ways["forwards"][number] | null)?.delivery === "string");
  return isWays ? { forwards: forwards as Ways["forwards"], exchanges, toQueues: toQueues === true } : undefined;
}
