import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DelayedMessageStore, openStore } from "@rabbitmq-delay/store";
import {
  PostgresServer,
  postgresInstallation,
  removePostgres,
  startPostgres,
} from "../../toolchain/dist/postgresServer";
import { afterThisTest } from "./cleanup";
import { installed, skipIfMissing } from "./missingPrograms";
import { ServerRegister } from "./servers";
import { temporaryFolder } from "./temporaryFolder";

/** A kind of database, and how a test opens stores on it. */
export interface TestDatabase {
  label: string;
  isShared: boolean;
  /** A store's address; a file of its own for SQLite. */
  address: () => Promise<string>;
}

const running = new ServerRegister<PostgresServer>("databases", removePostgres);
let shared: Promise<PostgresServer> | undefined;

/** The server that all tests share; they use different endpoints. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= ownServer();
  return shared;
}

async function ownServer(): Promise<PostgresServer> {
  const server = await startPostgres(await installed(() => postgresInstallation(() => undefined)));
  running.put(server.folder, server);
  return server;
}

/** Starts a server for one test alone, e.g. to be killed; the returned object always describes its latest start. */
export async function ownPostgres(): Promise<PostgresServer> {
  const server = await ownServer();
  afterThisTest(async () => {
    running.remove(server.folder);
    await removePostgres(server);
  });
  return server;
}

const databases: TestDatabase[] = [
  { label: "PostgreSQL", isShared: true, address: async () => (await sharedPostgres()).url },
  { label: "SQLite", isShared: false, address: async () => `sqlite:${join(temporaryFolder(), "delayed.db")}` },
];

/** Runs the same tests on each database. */
export function onEachDatabase(define: (database: TestDatabase) => void): void {
  for (const database of databases) {
    describe(`on ${database.label}`, function () {
      if (database.isShared) {
        before(async function () {
          try {
            await sharedPostgres();
          } catch (error) {
            skipIfMissing(this, error);
          }
        });
      }
      define(database);
    });
  }
}

/** A unique endpoint name for a test. */
export function ownEndpoint(): string {
  return `test-${randomUUID().slice(0, 13)}`;
}

/** Opens a store that is ready, and closes it after the test. */
export async function readyStore(address: string, endpoint: string): Promise<DelayedMessageStore> {
  const store = openStore(address);
  afterThisTest(() => store.close());
  await store.setUpInfrastructure(endpoint);
  await store.initialize(endpoint);
  return store;
}

/** Stops all databases that processes of the test run have started. */
export function stopAllDatabases(): Promise<void> {
  return running.stopAll();
}
