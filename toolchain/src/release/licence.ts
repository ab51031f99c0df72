import { readFileSync } from "node:fs";
import { list } from "tar";

/** A file with the text of a licence, however deep it lies. */
const LICENCE = /(^|\/)LICENSE(\.(md|txt))?$/;
const TAR = /\.(tgz|tar\.gz)$/;
const ZIP = /\.(zip|whl|jar)$/;
/** Starts of a line of a zip's directory, and where the lengths of its parts and its name stand. Source: APPNOTE.TXT of PKWARE, 4.3.12. */
const ZIP_ENTRY = { start: Buffer.from([0x50, 0x4b, 0x01, 0x02]), nameLength: 28, name: 46 };

/** Whether a file is an archive, which has to say under which licence its content is. */
export function isArchive(file: string): boolean {
  return TAR.test(file) || ZIP.test(file);
}

/** Whether an archive has the text of its licence. */
export async function hasLicence(file: string): Promise<boolean> {
  const names = TAR.test(file) ? await namesInTar(file) : namesInZip(readFileSync(file));
  return names.some((name) => LICENCE.test(name));
}

async function namesInTar(file: string): Promise<string[]> {
  const names: string[] = [];
  await list({ file, onReadEntry: ({ path }) => names.push(path) });
  return names;
}

function namesInZip(content: Buffer): string[] {
  const names: string[] = [];
  for (let at = content.indexOf(ZIP_ENTRY.start); at >= 0; at = content.indexOf(ZIP_ENTRY.start, at + 1)) {
    const length = content.readUInt16LE(at + ZIP_ENTRY.nameLength);
    names.push(content.toString("utf8", at + ZIP_ENTRY.name, at + ZIP_ENTRY.name + length));
  }
  return names;
}
