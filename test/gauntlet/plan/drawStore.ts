import type { Random } from "../random";
import { drawTimes } from "./drawMessages";
import type { StoreMessage, StorePart, StoreRequest } from "./types";

/** An external store on one of the databases, with messages that are cancelled and rescheduled, with and without ids. */
export function drawStore(random: Random, name: string, mayHavePostgres: boolean): StorePart {
  const destinations = random.some(["Sales", "Europe.Sales", "Billing"], random.whole(1, 3));
  const withIds = random.pick([0, 0.5, 1]);
  const messages = drawTimes(random, random.whole(10, 150)).map((atMs, index): StoreMessage => ({
    n: `${name}-${index}`,
    atMs,
    delayMs: random.chance(0.1) ? 0 : random.whole(1, random.chance(0.5) ? 800 : 5000),
    destination: random.chance(0.95) ? random.pick(destinations) : "nobodys-queue",
    by: random.pick(["x-delay", "x-deliver-at"]),
    forwarded: random.chance(0.3),
    ...(random.chance(withIds) ? { messageId: `id-${name}-${index}` } : {}),
  }));
  const known = messages.filter(({ messageId, delayMs }) => messageId !== undefined && delayMs > 500);
  const requests = random
    .some(known, random.chance(0.5) ? random.whole(1, 8) : 0)
    .map(({ atMs, delayMs, messageId }): StoreRequest => ({
      atMs: atMs + random.whole(0, delayMs + 100),
      operation: random.pick(["cancel", "reschedule"]),
      messageId: messageId as string,
      delayMs: random.whole(0, 3000),
    }));
  return {
    mechanism: "store",
    name,
    declaredBy: random.pick(["components", "plans"]),
    database: mayHavePostgres && random.chance(0.6) ? "postgres" : "sqlite",
    numberOfRetries: random.pick([0, 2]),
    batchSize: random.pick([1, 20, 500]),
    instances: random.pick([1, 1, 1, 2]),
    destinations,
    messages,
    requests,
  };
}
