import { createHash } from "node:crypto";
import { createWriteStream, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fetch } from "undici";
import { pinnedSums, sumInList } from "./checksums";
import { interrupted } from "./interruption";
import { run } from "./run";

/** How long to wait for the first byte, and between any two parts. */
const SILENCE_LIMIT_MS = 15_000;
/** A list of checksums is only a page of text. */
const LIST_LIMIT_BYTES = 1_000_000;

/** An archive and how it is verified. */
export interface Archive {
  url: string;
  /** Where the vendor lists SHA-256 sums, over TLS; asked if none is pinned. */
  listUrl: string;
  /** The sums by file name; default: those of this repository. */
  pinned?: Readonly<Record<string, string>>;
}

/**
 * Fetches a tar archive, verifies it, and unpacks it into a folder. Nothing is unpacked before the sum was compared, and an archive that is
 * cut short or changed is removed.
 * @throws Error with the address and what was wrong
 */
export async function fetchArchive(
  { url, listUrl, pinned = pinnedSums }: Archive,
  folder: string,
  progress: (line: string) => void,
): Promise<void> {
  const archive = join(folder, "archive.tar.gz");
  try {
    const wanted = await sumOf(url, listUrl, pinned, progress);
    progress(`fetching ${url}`);
    const got = await fetchFile(url, archive);
    if (got !== wanted)
      throw new Error(
        `${url}: its SHA-256 is ${got}, and it must be ${wanted}; it was removed and nothing of it was used`,
      );
    await run("tar", ["-xzf", archive], { cwd: folder });
  } finally {
    rmSync(archive, { force: true });
  }
}

async function sumOf(
  url: string,
  listUrl: string,
  pinned: Readonly<Record<string, string>>,
  progress: (line: string) => void,
): Promise<string> {
  const file = basename(new URL(url).pathname);
  const sum = pinned[file];
  if (sum !== undefined) return sum;
  if (new URL(listUrl).protocol !== "https:")
    throw new Error(`${listUrl}: no checksum is pinned for ${file}, and a list of checksums is taken over TLS alone`);
  progress(`no checksum is pinned for ${file}; comparing it with its maker's list ${listUrl}`);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of await fetchParts(listUrl)) {
    parts.push(part);
    size += part.length;
    if (size > LIST_LIMIT_BYTES) throw new Error(`${listUrl}: this is no list of checksums, it is too long`);
  }
  return sumInList(Buffer.concat(parts).toString(), file);
}

/** @returns the SHA-256 of the written bytes */
async function fetchFile(url: string, file: string): Promise<string> {
  const hash = createHash("sha256");
  const body = await fetchParts(url);
  const hashParts = async function* (): AsyncGenerator<Buffer> {
    for await (const part of body) {
      hash.update(part);
      yield part;
    }
  };
  await pipeline(Readable.from(hashParts()), createWriteStream(file));
  return hash.digest("hex");
}

/** The body of a response in parts; an end before its announced length is an error, and so is a long silence. */
async function fetchParts(url: string): Promise<AsyncGenerator<Buffer>> {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, interrupted]);
  const silence = setTimeout(() => abort.abort(new Error(`silent for ${SILENCE_LIMIT_MS / 1000} s`)), SILENCE_LIMIT_MS);
  const toError = (error: Error): Error => {
    clearTimeout(silence);
    return new Error(`${url}: ${error.cause instanceof Error ? error.cause.message : error.message}`, { cause: error });
  };
  const response = await fetch(url, { signal }).catch((error: Error) => {
    throw toError(error);
  });
  const { body } = response;
  if (!response.ok || body === null) throw toError(new Error(`HTTP ${response.status}`));
  return (async function* () {
    try {
      for await (const part of body) {
        silence.refresh();
        yield Buffer.from(part as Uint8Array);
      }
    } catch (error) {
      throw toError(error as Error);
    } finally {
      clearTimeout(silence);
    }
  })();
}
