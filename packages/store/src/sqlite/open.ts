import type { Database, Options } from "better-sqlite3";
import { showPath } from "@rabbitmq-delay/topology/stack";
import { StoreMismatchError } from "../errors";

type Constructor = new (path: string, options?: Options) => Database;

/**
 * Opens an SQLite file.
 * @param pragmas settings of the connection
 * @throws StoreMismatchError if better-sqlite3 is missing, or the path is impossible
 */
export function openDatabase(path: string, options: Options, pragmas: string[] = []): Database {
  const Constructor = load();
  try {
    const database = new Constructor(path, options);
    for (const pragma of pragmas) database.pragma(pragma);
    return database;
  } catch (error) {
    if (isBusy(error)) throw error;
    throw new StoreMismatchError(
      "store",
      `${showPath(path)} can't be opened as a SQLite file (${(error as Error).message})`,
    );
  }
}

/** Whether another connection holds a lock; it won't for long. */
export function isBusy(error: unknown): boolean {
  return String((error as { code?: string }).code).startsWith("SQLITE_BUSY");
}

/** Loads an optional dependency, which is compiled if there is no ready build of it. */
function load(): Constructor {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- only where SQLite is asked for
    return require("better-sqlite3") as Constructor;
  } catch (error) {
    throw new StoreMismatchError(
      "store",
      `SQLite needs the package better-sqlite3, which could not be loaded (${(error as Error).message}); npm install it, or take PostgreSQL`,
    );
  }
}
