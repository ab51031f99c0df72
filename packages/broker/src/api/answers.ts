import { BrokerCheckError } from "../brokerCheckError";

/** What an answer of the management API must be. */
type Shape = Record<string, "string" | "number" | "boolean" | "object">;

/**
 * Takes an answer for a list of such objects, once it is one: what can't be read is never taken for nothing.
 * @throws BrokerCheckError for anything else, which is shown by its kind alone
 */
export function checkList<T>(path: string, value: unknown, shape: Shape): T[] {
  const wrong = (what: string): never => {
    throw new BrokerCheckError(
      `broker.managementUrl: the answer to GET ${path} is ${what}; is this RabbitMQ's management API, without a proxy that changes it?`,
    );
  };
  if (!Array.isArray(value)) return wrong("not a list");
  for (const entry of value as unknown[]) {
    if (typeof entry !== "object" || entry === null) return wrong("a list of something else");
    const missing = Object.keys(shape).find((key) => typeof (entry as Record<string, unknown>)[key] !== shape[key]);
    if (missing !== undefined) return wrong(`a list without a readable ${missing}`);
  }
  return value as T[];
}
