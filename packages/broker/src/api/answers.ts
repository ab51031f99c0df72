import { BrokerCheckError } from "../brokerCheckError";

/** The properties that an answer of the management API must have, with their types. */
type Shape = Record<string, "string" | "number" | "boolean" | "object">;

/**
 * Reads an answer as a list of such objects, after checking that it is one: an answer that can't be read must never count as empty.
 * @throws BrokerCheckError for anything else, of which only the kind is shown
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

/** Returns the tags of a user: a list, or a text with commas from older brokers. */
export function readTags(tags: string[] | string = []): string[] {
  return [tags].flat().flatMap((tag) => tag.split(","));
}
