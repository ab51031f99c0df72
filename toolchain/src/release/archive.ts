import { readdirSync } from "node:fs";
import { create } from "tar";

/** One time for all files, so that the same content makes the same archive. */
const MADE_AT = new Date("2026-01-01T00:00:00Z");

/**
 * Writes a folder's content into a `.tar.gz`, with what its links lead to in their place.
 * @param isWanted whether a file is part of it; default: each is
 */
export async function writeArchive(
  file: string,
  folder: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<void> {
  const options = { file, cwd: folder, gzip: true, portable: true, follow: true, mtime: MADE_AT };
  const filter = (path: string): boolean => isWanted(path.replace(/^\.\//, ""));
  await create({ ...options, filter }, readdirSync(folder).sort());
}
