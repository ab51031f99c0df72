import * as amqp from "amqplib";
import { shownAddress } from "@rabbitmq-delay/topology/stack";
import { CommandError, exitCodes } from "./failure";
import { readBytes } from "./files";

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects to the broker that `--amqp` names.
 * @param caFile the file of `--ca`: the certificate authority of an `amqps` address, instead of those that Node.js knows
 * @throws CommandError for an invalid address, if nobody answers, or for a broker that refuses the user or the vhost; no message shows the
 * user's password
 */
export async function connect(url: string, caFile?: string): Promise<amqp.ChannelModel> {
  const where = shownAddress(url);
  if (!/^amqps?:\/\/./.test(where)) {
    throw new CommandError(
      exitCodes.badInput,
      "--amqp: it must be an address like amqp://user:password@host:5672/vhost, with @, /, # and ? in a password written as " +
        "%40, %2F, %23 and %3F",
    );
  }
  const isSecured = where.startsWith("amqps:") && caFile !== undefined;
  const ca = isSecured ? { ca: [readBytes(caFile, "--ca")] } : {};
  try {
    return await amqp.connect(url, { timeout: CONNECT_TIMEOUT_MS, ...ca });
  } catch (error) {
    throw new CommandError(exitCodes.outOfReach, `--amqp: ${reasonOf(url, where, error)}`);
  }
}

function reasonOf(url: string, where: string, error: unknown): string {
  const { message = "", code } = error as { message?: string; code?: string };
  const host = new URL(url).host;
  if (/ACCESS.REFUSED/.test(message)) {
    return `the broker at ${host} refuses the user or the password`;
  }
  // The library only expects success, and does not pass the broker's reason on.
  if (/Expected ConnectionOpenOk/.test(message)) {
    return `the broker at ${host} refuses vhost ${vhostOf(url)}: there is none of that name, or the user may not use it`;
  }
  if (code !== undefined || /timed?.?out|ETIMEDOUT/i.test(message)) {
    return `no broker at ${host} (${code ?? message}); make up starts a local one`;
  }
  // Any other error of a handshake may repeat what was sent.
  return `${where} does not answer as a broker does; is it AMQP's port, and amqps where it asks for TLS?`;
}

/** The vhost that an address leads to, as the library reads it. */
export function vhostOf(url: string): string {
  const vhost = new URL(url).pathname.slice(1);
  return vhost === "" ? "/" : decode(vhost);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
