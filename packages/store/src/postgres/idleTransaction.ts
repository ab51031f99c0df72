import type { PoolClient, QueryResult } from "pg";

/** How many signs of life to send in the time after which the server would end the session. */
const TRIES = 4;

/**
 * Keeps a transaction's session alive while its process does something else, such as waiting for the broker: PostgreSQL ends a session when
 * its last statement was too long ago.
 * @param timeoutMs after which the server ends an idle session
 * @returns the client to work with, which runs one statement at a time, and a function that ends this
 */
export function keepAlive(
  client: PoolClient,
  timeoutMs: number,
): { client: Pick<PoolClient, "query">; stop: () => Promise<void> } {
  let alive: Promise<unknown> = Promise.resolve();
  let working = 0;
  const timer = setInterval(() => {
    if (working > 0) return;
    // If the session breaks, the next statement reports it.
    alive = client.query("SELECT").catch(() => undefined);
  }, timeoutMs / TRIES);
  const query = async (...parameters: [never]): Promise<QueryResult> => {
    working++;
    try {
      await alive;
      return await client.query(...parameters);
    } finally {
      working--;
    }
  };
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await alive;
  };
  return { client: { query } as unknown as Pick<PoolClient, "query">, stop };
}
