import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

// Tests run in several processes; what nobody caught in one of them is written down here, and fails the run in the end.
const FOLDER = "RABBITMQ_DELAY_TEST_REJECTIONS";

/** In the first process, before the others are started. */
export function openRejections(): void {
  process.env[FOLDER] = mkdtempSync(join(tmpdir(), "rabbitmq-delay-rejections-"));
}

/** How many rejections nobody caught so far, in all processes. */
export function countRejections(): number {
  const folder = process.env[FOLDER];
  return folder === undefined ? 0 : readdirSync(folder).length;
}

/** In the first process, when all is over; counts once more. */
export function closeRejections(): number {
  const count = countRejections();
  const folder = process.env[FOLDER];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  delete process.env[FOLDER];
  return count;
}

/** Hears of rejections from now on, however often it is called; Mocha forgets listeners after each file. */
export function hearRejections(): void {
  process.removeListener("unhandledRejection", note);
  process.on("unhandledRejection", note);
}

const noted = new WeakSet<Promise<unknown>>();

/** It may be of an earlier file than the one that runs, so it fails no test, but the run. */
function note(reason: unknown, promise: Promise<unknown>): void {
  // Mocha listens, too, and hands on what it has heard.
  if (noted.has(promise)) return;
  noted.add(promise);
  console.error("nobody caught a rejection:", reason);
  const folder = process.env[FOLDER];
  if (folder !== undefined) writeFileSync(join(folder, randomUUID()), "");
}
