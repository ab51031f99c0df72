import type { ReleasePart } from "./artifact";
import { npmPart } from "./npmPart";

/** All that a release publishes, in the order in which it is made. */
export function releaseParts(_version: string): ReleasePart[] {
  return [npmPart()];
}
