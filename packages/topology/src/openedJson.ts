/** What a text of JSON holds, as the engine keeps arguments; any other value as it is. */
export function openedJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
