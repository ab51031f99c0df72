import { unescape } from "node:querystring";
import { Socket, connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { vhostOf } from "./brokerAddress";
import { OpenRefusedError } from "./errors";

const TIMEOUT_MS = 10_000;

/**
 * Replaces amqplib's error for a connection that the broker refuses to open by the broker's own reason, which amqplib drops: a second
 * connection asks for it.
 * @param url the address, as it was given
 * @param ca certificate authority of an `amqps` address, in PEM; default: those that Node.js knows
 * @returns the error as it came where it is another one, or where the broker gives no reason
 */
export async function explainOpening(url: string, error: unknown, ca?: Buffer): Promise<unknown> {
  if (!/Expected ConnectionOpenOk/.test((error as Error).message)) return error;
  const reason = await askReason(new URL(url), ca).catch(() => undefined);
  return reason === undefined ? error : new OpenRefusedError(reason.replace(/\s+/g, " "), { cause: error });
}

/** Methods of AMQP's class `connection`. */
const methods = { start: 10, startOk: 11, tune: 30, tuneOk: 31, open: 40, close: 50 } as const;
const CONNECTION_CLASS = 10;
const METHOD_FRAME = 1;
const FRAME_END = 0xce;
const HEADER_BYTES = 7;

/** Opens a connection as far as the broker's answer. @returns the text of a refusal; undefined if the broker does not refuse any more */
function askReason(url: URL, ca: Buffer | undefined): Promise<string | undefined> {
  const socket = openSocket(url, ca);
  const timer = setTimeout(() => socket.destroy(), TIMEOUT_MS);
  return new Promise<string | undefined>((resolve, reject) => {
    let rest = Buffer.alloc(0);
    const take = (data: Buffer): void => {
      rest = Buffer.concat([rest, data]);
      while (rest.length >= HEADER_BYTES && rest.length > HEADER_BYTES + rest.readUInt32BE(3)) {
        const end = HEADER_BYTES + rest.readUInt32BE(3);
        const frame = rest.subarray(0, end);
        rest = rest.subarray(end + 1);
        // The other kind is a heartbeat.
        if (frame[0] !== METHOD_FRAME) continue;
        const [method, fields] = [frame.readUInt16BE(HEADER_BYTES + 2), frame.subarray(HEADER_BYTES + 4)];
        if (method === methods.start) socket.write(frameOf(methods.startOk, loginOf(url)));
        else if (method === methods.tune) {
          socket.write(frameOf(methods.tuneOk, fields));
          socket.write(frameOf(methods.open, shortText(vhostOf(url.href)), Buffer.alloc(2)));
        } else resolve(method === methods.close ? fields.subarray(3, 3 + (fields[2] ?? 0)).toString() : undefined);
      }
    };
    socket.on("data", take);
    socket.on("error", reject);
    socket.on("close", () => resolve(undefined));
    socket.write("AMQP\0\0\x09\x01");
  }).finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

function openSocket({ protocol, hostname, port }: URL, ca: Buffer | undefined): Socket {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol !== "amqps:") return connectTcp(Number(port) || 5672, host);
  const named = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port: Number(port) || 5671, ...named, ...(ca === undefined ? {} : { ca }) });
}

/** Fields of `start-ok`: no properties of the client, and the login of the address, or amqplib's default. */
function loginOf({ username, password }: URL): Buffer {
  const [user, secret] = username + password === "" ? ["guest", "guest"] : [unescape(username), unescape(password)];
  const response = Buffer.from(`\0${user}\0${secret}`);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(response.length);
  return Buffer.concat([Buffer.alloc(4), shortText("PLAIN"), bytes, response, shortText("en_US")]);
}

function frameOf(method: number, ...fields: Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  const start = Buffer.alloc(HEADER_BYTES + 4);
  start.writeUInt8(1);
  start.writeUInt32BE(4 + body.length, 3);
  start.writeUInt16BE(CONNECTION_CLASS, HEADER_BYTES);
  start.writeUInt16BE(method, HEADER_BYTES + 2);
  return Buffer.concat([start, body, Buffer.from([FRAME_END])]);
}

function shortText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
