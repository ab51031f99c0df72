import type { ReleasePart } from "./artifact";
import { npmPart } from "./npmPart";
import { pluginPart } from "./pluginPart";

/** All that a release publishes, in the order in which it is made. */
export function releaseParts(version: string): ReleasePart[] {
  return [npmPart(), pluginPart(version)];
}
