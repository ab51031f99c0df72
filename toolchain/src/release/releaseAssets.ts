import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fetch } from "undici";

/** Where the files of a version's release lie once it is published. */
export function releaseAddress(version: string): string {
  return `https://github.com/rabbitmq-delay/rabbitmq-delay/releases/download/v${version}`;
}

/**
 * Gets a file of a published release.
 * @param address of the release's files
 * @param folder in which it comes to lie
 * @throws Error for a file that is not there
 */
export async function fetchReleaseAsset(address: string, file: string, folder: string): Promise<void> {
  if (file !== basename(file)) throw new Error(`${JSON.stringify(file)} is not allowed; it must be a file's name`);
  const answer = await fetch(`${address}/${encodeURIComponent(file)}`);
  if (!answer.ok) throw new Error(`${file} of the release could not be had: status ${answer.status}`);
  writeFileSync(join(folder, file), Buffer.from(await answer.arrayBuffer()));
}
