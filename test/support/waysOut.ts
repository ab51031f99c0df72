import * as check from "./waysOut/check";
import * as preflight from "./waysOut/preflight";
import * as refusals from "./waysOut/refusals";
import * as review from "./waysOut/review";

const sections = [check, preflight, refusals, review];

type Ids<Texts> = Texts extends unknown ? { [File in keyof Texts]: keyof Texts[File] }[keyof Texts] : never;

/** Id of a way out. */
export type WayOut = Ids<(typeof sections)[number]["texts"]>;

/** Excerpts of all ways out that the project prints, with the file that holds the text. */
export const excerpts = sections
  .flatMap(({ texts }) => Object.entries<Record<string, string>>(texts))
  .flatMap(([file, ofFile]) => Object.entries(ofFile).map(([id, text]) => ({ id: id as WayOut, file, text })));

/** Ways out that no test follows, with the reason. */
export const undone = Object.fromEntries(sections.flatMap((section) => Object.entries<string>(section.undone)));

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy = Object.fromEntries(
  sections.flatMap((section) => Object.entries<readonly [file: string, title: string]>(section.doneBy)),
);

/** Returns a pattern of a way out as it is printed. A test that matches it does what it says. */
export function wayOut(id: WayOut): RegExp {
  const text = excerpts.find((one) => one.id === id)?.text as string;
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
}
