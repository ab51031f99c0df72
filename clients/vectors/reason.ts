/**
 * Why something is refused. Clients word it as they like; that all of them refuse the same property for the same reason is what counts.
 *
 * - `missing`: the property is not there
 * - `type`: a value of another type, e.g. a text where a number belongs
 * - `choice`: none of the values that are allowed
 * - `range`: a number that is too low, too high, or not whole
 * - `empty`, `character`, `reserved`, `wildcard`, `length`: what no name may be, have, start with, have for a word, or be in bytes of UTF-8
 * - `contradiction`: it does not fit the other properties
 * - `fixed`: the preset has another name or shape. `unknown`: nobody reads a property of this name. A client may take both.
 */
export type Reason =
  | "missing"
  | "type"
  | "choice"
  | "range"
  | "empty"
  | "character"
  | "reserved"
  | "wildcard"
  | "length"
  | "contradiction"
  | "fixed"
  | "unknown";
