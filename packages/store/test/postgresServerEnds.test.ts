import { strict as assert } from "node:assert";
import { AddressInfo, Server, createServer } from "node:net";
import { PostgresDelayedMessageStore } from "@rabbitmq-delay/store";

/** A message of PostgreSQL's protocol: its type, its length, and what it says. */
function message(type: string, ...fields: Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const AUTHENTICATED = message("R", Buffer.from([0, 0, 0, 0]));
const READY = message("Z", Buffer.from("I"));
const ENDING = message(
  "E",
  Buffer.from("SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0"),
);

/** A server that ends in the moment in which a connection is ready, so that both arrive together. */
function startEndingServer(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([AUTHENTICATED, READY, ENDING])));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

describe("a PostgreSQL server that ends", () => {
  // Nobody heard of the error between the connection and its first query, so it ended the whole process.
  it("while a connection is just made, fails that try and not the process", async () => {
    const server = await startEndingServer();
    const uncaught: Error[] = [];
    const note = (error: Error): void => void uncaught.push(error);
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException").on("uncaughtException", note);
    const { port } = server.address() as AddressInfo;
    const store = new PostgresDelayedMessageStore({ connectionString: `postgres://u:p@127.0.0.1:${port}/d` });
    try {
      await assert.rejects(store.setUpInfrastructure("test"));
      // What a store does while it works, which would take a server that answers until then.
      await assert.rejects(store["inTransaction"](async () => undefined));
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.removeListener("uncaughtException", note);
      for (const other of others) process.on("uncaughtException", other);
      await store.close();
      server.close();
    }
    assert.deepEqual(uncaught, []);
  });
});
