/**
 * What has to be said of an adoption: `differs`, the broker has something otherwise than the config would declare it, or the config would be
 * refused; `left out`, what the config does not have, because it is not this stack's; `note`, what to know.
 */
export type RemarkKind = "differs" | "left out" | "note";

/** A part of the config that a remark is about; the whole of it without steps. */
export type RemarkPlace = readonly (string | number)[];

/** Something about a part of an adoption, in a sentence without its end. */
export interface AdoptionRemark {
  kind: RemarkKind;
  place: RemarkPlace;
  message: string;
}

/** A remark without its place, which is known later. */
export type Unplaced = Omit<AdoptionRemark, "place">;

/** Says that something is otherwise than the config would have it. */
export function differs(message: string): Unplaced {
  return { kind: "differs", message };
}

/** Says what the config does not have, and why. */
export function leftOut(message: string): Unplaced {
  return { kind: "left out", message };
}

/** Says what to know. */
export function note(message: string): Unplaced {
  return { kind: "note", message };
}
