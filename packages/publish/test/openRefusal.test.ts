import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { AddressInfo, Server, Socket, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { explainOpening } from "@rabbitmq-delay/publish/parts";
import { createCertificates } from "../../../test/support/certificates";
import { afterThisTest } from "../../../test/support/cleanup";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

const unexplained = new Error("Expected ConnectionOpenOk; got <ConnectionClose channel:0>");
const told = "NOT_ALLOWED - access to vhost 'größe/1' refused for user 'ü': connection limit (1) is reached";

function frameOf(method: number, fields: Buffer): Buffer {
  const frame = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 10, 0, method]), fields, Buffer.from([0xce])]);
  frame.writeUInt32BE(4 + fields.length, 3);
  return frame;
}

const start = frameOf(10, Buffer.alloc(20));
const tune = frameOf(30, Buffer.alloc(8));
const openOk = frameOf(41, Buffer.alloc(1));
const close = frameOf(
  50,
  Buffer.concat([Buffer.from([2, 18, Buffer.byteLength(told)]), Buffer.from(told), Buffer.from([0, 10, 0, 40])]),
);

const heartbeat = Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]);

/** Answers each step of opening a connection, a byte at a time. @param seen what the client sends */
function answer(socket: Socket, last: Buffer, seen: Buffer[]): void {
  const send = (frame: Buffer): void => frame.forEach((byte) => void socket.write(Buffer.from([byte])));
  let rest = Buffer.alloc(0);
  let isBegun = false;
  socket.on("error", () => undefined);
  socket.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    if (!isBegun && rest.length >= 8) {
      isBegun = true;
      rest = rest.subarray(8);
      send(start);
    }
    while (rest.length > 7 && rest.length >= 8 + rest.readUInt32BE(3)) {
      const frame = rest.subarray(0, 8 + rest.readUInt32BE(3));
      rest = rest.subarray(frame.length);
      seen.push(frame);
      if (frame[10] === 11) send(tune);
      if (frame[10] === 40) send(last);
    }
  });
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("the reason for which a broker does not open a connection", () => {
  const login = "%C3%BC:p%2Fw@127.0.0.1";

  // A broker that is slow to answer sends heartbeats meanwhile, and one ended the process.
  it("is asked for with the address's login and vhost, over TCP and TLS", async () => {
    const { key, cert, caCertFile } = createCertificates(temporaryFolder(), ["IP:127.0.0.1"]);
    const seen: Buffer[] = [];
    const plain = await portOf(createServer((socket) => answer(socket, Buffer.concat([heartbeat, close]), seen)));
    const secured = await portOf(createTlsServer({ key, cert }, (socket) => answer(socket, close, seen)));
    for (const [url, ca] of [
      [`amqp://${login}:${plain}/gr%C3%B6%C3%9Fe%2F1`, undefined],
      [`amqps://${login}:${secured}/gr%C3%B6%C3%9Fe%2F1`, readFileSync(caCertFile)],
    ] as const) {
      seen.length = 0;
      const explained = (await explainOpening(url, unexplained, ca)) as Error;
      assert.deepEqual([explained.name, explained.message], ["OpenRefusedError", told]);
      assert.ok(seen[0]?.includes(Buffer.from("\0ü\0p/w")));
      assert.ok(seen.at(-1)?.includes(Buffer.from("größe/1")));
    }
    const untrusted = `amqps://${login}:${secured}/`;
    assert.equal(await explainOpening(untrusted, unexplained), unexplained);
  });

  it("stays unknown where the broker opens the connection meanwhile, says nothing, or is gone", async () => {
    const opened = await portOf(createServer((socket) => answer(socket, openOk, [])));
    const silent = await portOf(createServer((socket) => void socket.on("error", () => undefined).end()));
    const other = await portOf(
      createServer((socket) => void socket.on("error", () => undefined).end("AMQP\0\0\x09\x01")),
    );
    for (const port of [opened, silent, other, 1])
      assert.equal(await explainOpening(`amqp://${login}:${port}/`, unexplained), unexplained);
  });

  it("is asked for by no other error", async () => {
    const other = new Error("connect ETIMEDOUT");
    assert.equal(await explainOpening("amqp://127.0.0.1:1", other), other);
  });
});
