import { DelayTopologyError } from "../errors";

/**
 * Looks at options before they are read.
 * @throws DelayTopologyError for what is no object, or has a property that is not known
 */
export function checkKnown(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new DelayTopologyError(what, options, `it must be an object with some of ${known.join(", ")}`);
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) throw new DelayTopologyError(key, value, `known properties are ${known.join(", ")}`);
  }
}
