import type { PoolClient, QueryResult } from "pg";

/** Tries in the time after which the server would end the session. */
const TRIES = 4;

/**
 * Keeps a transaction's session from being taken for one whose process has stopped, while the process does something else, such as to
 * wait for the broker: PostgreSQL measures the time since the last statement.
 * @param timeoutMs after which the server ends an idle session
 * @returns the client to work with, of which one statement is under way at a time, and what ends it
 */
export function keptAlive(
  client: PoolClient,
  timeoutMs: number,
): { client: Pick<PoolClient, "query">; stop: () => Promise<void> } {
  let alive: Promise<unknown> = Promise.resolve();
  let working = 0;
  const timer = setInterval(() => {
    if (working > 0) return;
    // What breaks the session is told by the statement that comes next.
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
