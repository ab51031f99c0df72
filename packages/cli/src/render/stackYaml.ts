import type { AdoptionRemark } from "@rabbitmq-delay/operate";
import { Document, Pair, Scalar, isMap, isNode, isPair, isScalar, isSeq, visit } from "yaml";

/** A part of a stack's config file, and what is said before it. */
export type Commented = Pick<AdoptionRemark, "place" | "kind" | "message">;

/**
 * A stack's config file (`Pulumi.STACK.yaml`), with remarks before the parts that they are about, and before all of it.
 * @param config by the keys of the file, each with its project's name before it
 */
export function renderStackYaml(
  config: Record<string, unknown>,
  heading: string[],
  remarks: readonly Commented[],
): string {
  const document = new Document(Object.keys(config).length === 0 ? {} : { config });
  visit(document, { Scalar: (_, scalar) => quote(scalar) });
  for (const { place, lines } of byPlace(remarks)) {
    const comment = lines.map((line) => ` ${line}`).join("\n");
    setComment(document, ["config", ...place], comment);
  }
  const general = remarks.filter(({ place }) => place.length === 0).map(lineOf);
  const start = [...heading, ...general].map((line) => `# ${printable(line)}\n`).join("");
  // A long line is one line: a name is never cut.
  const body = Object.keys(config).length === 0 ? "" : document.toString({ lineWidth: 0 });
  return start + printable(body, "\n");
}

function byPlace(remarks: readonly Commented[]): { place: Commented["place"]; lines: string[] }[] {
  const places = new Map<string, { place: Commented["place"]; lines: string[] }>();
  for (const remark of remarks.filter(({ place }) => place.length > 0)) {
    const key = JSON.stringify(remark.place);
    const known = places.get(key) ?? { place: remark.place, lines: [] };
    known.lines.push(printable(lineOf(remark)));
    places.set(key, known);
  }
  return [...places.values()];
}

function lineOf({ kind, message }: Commented): string {
  return `${kind}: ${message}`;
}

/** What stands before a property is at its key, and what stands before an item is at the item. */
function setComment(document: Document, path: (string | number)[], comment: string): void {
  const parent = document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  if (isSeq(parent)) {
    const item = parent.items[Number(last)];
    if (isNode(item)) item.commentBefore = comment;
    return;
  }
  if (!isMap(parent)) return;
  const pair = parent.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === last) as
    Pair<Scalar, unknown> | undefined;
  if (pair !== undefined) pair.key.commentBefore = comment;
}

/** A text is quoted unless every reader of YAML, of whichever version, takes it for itself. */
function quote(scalar: Scalar): void {
  const { value } = scalar;
  if (typeof value !== "string") return;
  const isPlain = /^[A-Za-z][A-Za-z0-9._:-]*$/.test(value) && !value.endsWith(":") && !WORDS.test(value);
  if (!isPlain) scalar.type = Scalar.QUOTE_DOUBLE;
}

const WORDS = /^(y|yes|n|no|on|off|true|false|null)$/i;

/**
 * Without characters that a terminal acts on, or that let a line look otherwise than it reads; inside quotes, YAML reads what takes their place.
 * @param allowed a character that stays
 */
function printable(text: string, allowed = ""): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === allowed) return character;
    const code = character.codePointAt(0) as number;
    const digits = code > 0xffff ? 8 : 4;
    return `\\${digits === 8 ? "U" : "u"}${code.toString(16).padStart(digits, "0")}`;
  });
}
