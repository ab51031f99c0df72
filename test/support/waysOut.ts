import * as preflight from "./waysOut/preflight";
import * as review from "./waysOut/review";

/** Excerpts of all ways out that the project prints, by the file that holds the text and by an id. */
export const texts = { ...preflight.texts, ...review.texts };

/** Id of a way out. */
export type WayOut = { [File in keyof typeof texts]: keyof (typeof texts)[File] }[keyof typeof texts];

/** Ways out that no test follows, with the reason. */
export const undone: { [Id in WayOut]?: string } = { ...preflight.undone, ...review.undone };

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy: { [Id in WayOut]?: readonly [file: string, title: string] } = {
  ...preflight.doneBy,
  ...review.doneBy,
};

/** Returns a pattern of a way out as it is printed. A test that matches it does what it says. */
export function wayOut(id: WayOut): RegExp {
  const [excerpt] = Object.values<Record<string, string>>(texts).flatMap((ofFile) => ofFile[id] ?? []);
  return new RegExp((excerpt as string).replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
}
