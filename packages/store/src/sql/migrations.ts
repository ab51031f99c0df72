import type { UmzugStorage } from "umzug";
import { StoreMismatchError } from "../errors";

/** One step forward of a store's tables; never edited once released. */
export interface Migration {
  /** Sorts after all earlier ones. */
  name: string;
  sql: string;
}

/** The open transaction in which migrations run, under a lock that all migrating processes take. */
export interface MigrationTransaction {
  run(sql: string): Promise<unknown>;
  /** Names of the migrations executed so far. */
  executed(): Promise<string[]>;
  /** Records a migration as executed. */
  note(name: string): Promise<unknown>;
}

/**
 * Executes the migrations that are missing; all of them, or none.
 * @param what the table, for messages
 * @throws StoreMismatchError when there are migrations that this version doesn't know
 */
export async function migrate(what: string, migrations: Migration[], transaction: MigrationTransaction): Promise<void> {
  refuseNewer(what, migrations, await transaction.executed());
  const storage: UmzugStorage = {
    executed: () => transaction.executed(),
    logMigration: async ({ name }) => void (await transaction.note(name)),
    unlogMigration: () => Promise.reject(new Error("migrations only go forward")),
  };
  const steps = migrations.map(({ name, sql }) => ({ name, up: () => transaction.run(sql) }));
  // Loaded only when a store is set up, because it includes the megabytes of a command line.
  const { Umzug } = await import("umzug");
  await new Umzug({ migrations: steps, storage, logger: undefined }).up();
}

/** Whether all migrations were executed; then a role that may not create tables has nothing to set up. */
export function isComplete(migrations: Migration[], executed: string[] | undefined): boolean {
  return executed?.length === migrations.length && migrations.every(({ name }) => executed.includes(name));
}

/**
 * Checks that tables are of this version.
 * @param executed the executed migrations; undefined when there is no table at all
 * @throws StoreMismatchError that says which side is older
 */
export function checkVersion(what: string, migrations: Migration[], executed: string[] | undefined): void {
  if (executed === undefined) {
    throw new StoreMismatchError("table", `there is no ${what}; set it up first (rabbitmq-delay store set-up)`);
  }
  refuseNewer(what, migrations, executed);
  const missing = migrations.find(({ name }) => !executed.includes(name));
  if (missing !== undefined) {
    throw new StoreMismatchError(
      "table",
      `${what} is of an older version, it lacks ${missing.name}; set it up again (rabbitmq-delay store set-up)`,
    );
  }
}

function refuseNewer(what: string, migrations: Migration[], executed: string[]): void {
  const unknown = executed.find((name) => !migrations.some((migration) => migration.name === name));
  if (unknown !== undefined) {
    throw new StoreMismatchError(
      "table",
      `${what} is of a newer version, it has ${unknown}, which this release does not know; use a newer release`,
    );
  }
}
