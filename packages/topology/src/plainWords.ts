/** An issue of zod's, as far as its words are translated. */
interface Issue {
  readonly code: string;
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly inclusive?: boolean;
  readonly divisor?: number;
}

/** What a value must be, where zod says it with a type's name; each ends the sentence of a refusal. */
const TYPES: Readonly<Record<string, string>> = {
  string: "it must be a text",
  number: "it must be a number",
  int: "it must be a whole number",
  boolean: "it must be true or false",
  array: "it must be a list",
  tuple: "it must be a list",
  object: "it must be an object",
  record: "it must be an object",
};

/**
 * What is allowed where a field of a schema says nothing of its own, so that no refusal has zod's words: they speak of the schema, and not
 * of what to write.
 */
export function inPlainWords(issue: Issue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected ?? ""] ?? "it must be of another kind";
    case "invalid_value":
      return `it must be one of ${issue.values?.map(String).join(", ")}`;
    case "too_small":
      return bound(issue.origin, "at least", issue.minimum, issue.inclusive);
    case "too_big":
      return bound(issue.origin, "at most", issue.maximum, issue.inclusive);
    case "not_multiple_of":
      return `it must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return undefined;
    default:
      return "it must have another form";
  }
}

function bound(
  origin: string | undefined,
  side: string,
  limit: number | bigint | undefined,
  isInclusive = true,
): string {
  const range = isInclusive ? `${side} ${limit}` : `${side === "at least" ? "more" : "less"} than ${limit}`;
  if (origin === "string")
    return side === "at least" && limit === 1 ? "it must be a non-empty text" : `it must have ${range} characters`;
  if (origin === "array") return `it must be a list of ${range}`;
  return `it must be a number of ${range}`;
}
