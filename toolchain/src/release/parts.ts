import type { ReleasePart } from "./artifact";
import { checksumsPart } from "./checksumsPart";
import { goPart } from "./goPart";
import { javaPart } from "./javaPart";
import { nodeSdkPart } from "./nodeSdkPart";
import { npmPart } from "./npmPart";
import { pluginPart } from "./pluginPart";
import { pythonPart } from "./pythonPart";
import { sbomPart } from "./sbomPart";
import { sitePart } from "./sitePart";

/**
 * All that a release publishes, in the order in which it is made: SDKs are tried out with the plugin's archive, and the checksums are those of
 * all others.
 */
export function releaseParts(version: string): ReleasePart[] {
  return [
    npmPart(),
    pluginPart(version),
    nodeSdkPart(),
    pythonPart(version),
    goPart(version),
    javaPart(version),
    sitePart(version),
    sbomPart(version),
    checksumsPart(),
  ];
}
