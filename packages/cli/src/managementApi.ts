import { BrokerAddress, BrokerCheckError, BrokerReader, ManagementApi } from "@rabbitmq-delay/broker";
import { BrokerAnswerError, shownAddress } from "@rabbitmq-delay/topology/stack";
import { CommandError, exitCodes } from "./failure";
import { readBytes } from "./files";

const NOT_AN_ADDRESS =
  "--management: it must be the management API's address, e.g. http://127.0.0.1:15672, with http:// or https://, and with " +
  "@, /, # and ? in a password written as %40, %2F, %23 and %3F";

/**
 * A reader of the management API at `http://USER:PASSWORD@HOST:15672`; user and password may come from the environment instead.
 * @param caFile the file of `--ca`: the certificate authority of an `https` address
 * @throws CommandError that shows neither user nor password
 */
export function readerOf(text: string, caFile?: string, environment = process.env): BrokerReader {
  return opened(BrokerReader, text, caFile, environment);
}

/** The management API for a verb that changes something; otherwise as {@link readerOf}. */
export function managementApiOf(text: string, caFile?: string, environment = process.env): ManagementApi {
  return opened(ManagementApi, text, caFile, environment);
}

function opened<T>(
  Api: new (address: BrokerAddress) => T,
  text: string,
  caFile: string | undefined,
  environment: NodeJS.ProcessEnv,
): T {
  if (!/^https?:\/\//.test(shownAddress(text))) throw new CommandError(exitCodes.badInput, NOT_AN_ADDRESS);
  const url = new URL(text);
  let given: string[];
  try {
    given = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  } catch {
    throw new CommandError(exitCodes.badInput, NOT_AN_ADDRESS);
  }
  const username = given[0] || environment.RABBITMQ_USERNAME || "guest";
  const password = given[1] || environment.RABBITMQ_PASSWORD || "guest";
  const ca = url.protocol === "https:" && caFile !== undefined ? readBytes(caFile, "--ca") : undefined;
  const managementUrl = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  try {
    return new Api({ managementUrl, username, password, ca });
  } catch (error) {
    if (!(error instanceof BrokerCheckError)) throw error;
    throw new CommandError(exitCodes.badInput, `--management: ${error.message}`);
  }
}

/** Awaits a broker's answer. @throws CommandError, out of reach, if there is no usable answer */
export async function orOutOfReach<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof BrokerAnswerError)) throw error;
    throw new CommandError(exitCodes.outOfReach, `--management: ${error.message}`);
  }
}
