/** Copies a message's headers deeply, as a client library decodes them: texts, numbers, bytes, lists and tables of them. */
export function ownCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value) as unknown as T;
  if (Array.isArray(value)) return value.map((entry: unknown) => ownCopy(entry)) as T;
  // `fromEntries` defines properties, so that one named __proto__ stays one.
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, ownCopy<unknown>(entry)])) as T;
}
