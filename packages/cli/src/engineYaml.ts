import { ScalarTag, parse } from "yaml";

/**
 * Reads YAML as Pulumi's engine does (go-yaml 3, tried out with Pulumi 3.220): the words of YAML 1.2, so that `yes` and `1:30` are texts, with
 * the numbers of YAML 1.1, so that `010` is 8 and `1_000` is 1000, and with merge keys.
 * @throws YAMLParseError; with the code `TAG_RESOLVE_FAILED` for what the engine makes another text of, or nothing at all
 */
export function parseAsEngine(text: string): unknown {
  // A warning of the parser quotes the line.
  return parse(text, {
    logLevel: "error",
    merge: true,
    customTags: (tags) => [date, endless, whole, fraction, ...tags],
  });
}

/** What the engine writes as `2024-01-02 00:00:00 +0000 UTC`. */
const date: ScalarTag = {
  tag: "tag:yaml.org,2002:timestamp",
  default: true,
  test: /^\d{4}-\d\d?-\d\d?([Tt\s].*)?$/,
  resolve: (_, onError) => onError("a date"),
};

/** What the engine can't write as JSON. */
const endless: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/,
  resolve: (_, onError) => onError("no number"),
};

const whole: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?(0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)$/i,
  resolve: (given) => {
    const digits = given.replaceAll("_", "").replace(/^[-+]/, "");
    // Digits behind a 0 are octal, where they can be.
    const value = Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
    return given.startsWith("-") ? -value : value;
  },
};

const fraction: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9_]+)?$/,
  resolve: (given) => Number(given.replaceAll("_", "")),
};
