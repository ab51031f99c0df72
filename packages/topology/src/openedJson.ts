/** Returns the object or list that a JSON text holds, and any other value as given. */
export function openedJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
