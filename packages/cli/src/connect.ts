import * as amqp from "amqplib";
import { CommandError, exitCodes } from "./failure";

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects to the broker that `--amqp` names.
 * @throws CommandError for an address that is none, or where nobody answers
 */
export async function connect(url: string): Promise<amqp.ChannelModel> {
  let where: string;
  try {
    const { protocol, host } = new URL(url);
    if (!/^amqps?:$/.test(protocol)) throw new Error();
    where = host;
  } catch {
    throw new CommandError(
      exitCodes.badInput,
      "--amqp: it must be an address like amqp://user:password@host:5672/vhost",
    );
  }
  try {
    return await amqp.connect(url, { timeout: CONNECT_TIMEOUT_MS });
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string };
    throw new CommandError(
      exitCodes.outOfReach,
      `--amqp: no broker at ${where} (${message || code}); make up starts a local one`,
    );
  }
}
