import * as amqp from "amqplib";
import { connectionFailure, explainOpening } from "@rabbitmq-delay/publish/parts";
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
  const ca = isSecured ? readBytes(caFile, "--ca") : undefined;
  try {
    return await amqp.connect(url, { timeout: CONNECT_TIMEOUT_MS, ...(ca === undefined ? {} : { ca: [ca] }) });
  } catch (error) {
    const { reason } = connectionFailure(url, await explainOpening(url, error, ca));
    throw new CommandError(exitCodes.outOfReach, `--amqp: ${reason}`);
  }
}
