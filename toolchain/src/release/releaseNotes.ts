import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";

/**
 * What CHANGELOG.md says of a version.
 * @throws Error when it says nothing
 */
export function releaseNotes(version: string, changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8")): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/)[0]?.replace(/[[\]]/g, "") === version);
  const notes = section?.slice(section.indexOf("\n")).trim() ?? "";
  if (notes !== "") return notes;
  throw new Error(
    `CHANGELOG.md says nothing of ${version}; give it a section "## ${version}", in the place of "## Unreleased"`,
  );
}
