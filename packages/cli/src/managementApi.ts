import { CommandError, exitCodes } from "./failure";

const TIMEOUT_MS = 10_000;

/** Where the management API is, with who asks. */
export interface BrokerUrl {
  base: string;
  authorization: string;
}

/**
 * Reads `http://USER:PASSWORD@HOST:15672`; user and password may come from the environment instead.
 * @throws CommandError
 */
export function parseBrokerUrl(text: string, environment = process.env): BrokerUrl {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new CommandError(
      exitCodes.badInput,
      `--broker: it must be the management API's address, e.g. http://127.0.0.1:15672`,
    );
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new CommandError(
      exitCodes.badInput,
      `--broker: ${url.protocol}// is not the management API; give http:// or https://`,
    );
  }
  const user = decodeURIComponent(url.username) || environment.RABBITMQ_USERNAME || "guest";
  const password = decodeURIComponent(url.password) || environment.RABBITMQ_PASSWORD || "guest";
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  return { base: `${url.origin}${url.pathname.replace(/\/$/, "")}/api`, authorization };
}

/**
 * Reads from the management API.
 * @returns undefined for what is not there
 * @throws CommandError for a broker out of reach, or one that refuses
 */
export async function get<T>({ base, authorization }: BrokerUrl, path: string): Promise<T | undefined> {
  let response: Response;
  try {
    response = await fetch(`${base}/${path}`, { headers: { authorization }, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    throw new CommandError(exitCodes.outOfReach, `--broker: ${base} does not answer (${cause?.message ?? message})`);
  }
  if (response.status === 404) return undefined;
  if (!response.ok) {
    const why =
      response.status === 401 ? "user or password is wrong, or the user lacks the tag monitoring" : response.statusText;
    throw new CommandError(
      exitCodes.outOfReach,
      `--broker: ${base}/${path.split("?")[0]}: HTTP ${response.status}, ${why}`,
    );
  }
  return (await response.json()) as T;
}
