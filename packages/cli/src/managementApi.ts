import { readFileSync } from "node:fs";
import { request } from "node:https";
import { shownAddress } from "rabbitmq-delay-topology";
import { CommandError, exitCodes } from "./failure";

const TIMEOUT_MS = 10_000;

/** Where the management API is, with who asks. */
export interface BrokerUrl {
  base: string;
  authorization: string;
  /** The certificate authority of an `https` address, in PEM, in the place of those that Node.js knows. */
  ca?: Buffer;
}

/**
 * Reads `http://USER:PASSWORD@HOST:15672`; user and password may come from the environment instead, and the file of
 * its certificate authority does, by the name that the provider reads, too.
 * @throws CommandError that shows neither
 */
export function parseBrokerUrl(text: string, environment = process.env): BrokerUrl {
  const shown = shownAddress(text);
  const refuse = (): never => {
    throw new CommandError(
      exitCodes.badInput,
      "--management: it must be the management API's address, e.g. http://127.0.0.1:15672, with http:// or https://, and with " +
        "@, /, # and ? in a password written as %40, %2F, %23 and %3F",
    );
  };
  if (!/^https?:\/\//.test(shown)) refuse();
  const url = new URL(text);
  let given: string[];
  try {
    given = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  } catch {
    return refuse();
  }
  const user = given[0] || environment.RABBITMQ_USERNAME || "guest";
  const password = given[1] || environment.RABBITMQ_PASSWORD || "guest";
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const ca = url.protocol === "https:" ? certificateOf(environment.RABBITMQ_CACERT) : undefined;
  return {
    base: `${url.origin}${url.pathname.replace(/\/$/, "")}/api`,
    authorization,
    ...(ca === undefined ? {} : { ca }),
  };
}

function certificateOf(file = ""): Buffer | undefined {
  if (file === "") return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `RABBITMQ_CACERT: ${file} can't be read (${(error as Error).message})`);
  }
}

/**
 * Reads from the management API.
 * @returns undefined for what is not there
 * @throws CommandError for a broker out of reach, one that refuses, or an answer that is none
 */
export async function get<T>(broker: BrokerUrl, path: string): Promise<T | undefined> {
  const { base } = broker;
  let response: Response;
  try {
    response = await ask(broker, path);
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    throw new CommandError(
      exitCodes.outOfReach,
      `--management: ${base} does not answer (${cause?.message || (cause as { code?: string } | undefined)?.code || message})`,
    );
  }
  if (response.status === 404) return undefined;
  if (!response.ok) {
    const why =
      response.status === 401
        ? "user or password is wrong, or the user lacks the tag management or rights on the vhost"
        : response.statusText;
    throw new CommandError(
      exitCodes.outOfReach,
      `--management: ${base}/${path.split("?")[0]}: HTTP ${response.status}, ${why}`,
    );
  }
  try {
    return (await response.json()) as T;
  } catch {
    throw new CommandError(
      exitCodes.outOfReach,
      `--management: ${base}/${path.split("?")[0]} does not answer in JSON; is it the management API's address?`,
    );
  }
}

function ask({ base, authorization, ca }: BrokerUrl, path: string): Promise<Response> {
  const options = { headers: { authorization }, signal: AbortSignal.timeout(TIMEOUT_MS) };
  if (ca === undefined) return fetch(`${base}/${path}`, options);
  // Node's own fetch takes no certificate authority.
  return new Promise((resolve, reject) => {
    const sent = request(`${base}/${path}`, { ...options, ca }, (answer) => {
      const { statusCode: status = 500, statusMessage: statusText } = answer;
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () =>
        resolve(new Response(status === 204 ? null : Buffer.concat(parts), { status, statusText })),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}

/**
 * Reads a list that must be there.
 * @throws CommandError for anything that is not a list of objects: what can't be read is never taken for nothing
 */
export async function getList<T extends object>(broker: BrokerUrl, path: string): Promise<T[]> {
  const answer = await get<unknown>(broker, path);
  const isList = Array.isArray(answer) && answer.every((entry) => typeof entry === "object" && entry !== null);
  if (isList) return answer as T[];
  const what = answer === undefined ? "is not there (HTTP 404)" : "is not a list";
  throw new CommandError(
    exitCodes.outOfReach,
    `--management: ${broker.base}/${path.split("?")[0]} ${what}; is it the management API's address?`,
  );
}
