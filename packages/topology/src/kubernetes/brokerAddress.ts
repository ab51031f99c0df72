import { DelayTopologyError } from "../errors";

/**
 * Checks the address of a broker, in which the login of a process has its place.
 * @throws DelayTopologyError, without the address where it might hold a password
 */
export function checkBrokerAddress(property: string, address: unknown): URL {
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && /^amqps?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw new DelayTopologyError(property, address, ADDRESS_RULE);
}

const ADDRESS_RULE = "it must be like amqps://host:5671, without a user";
