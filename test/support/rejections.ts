import { randomUUID } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { runFolder } from "./servers";

/** Tests run in several processes; unhandled rejections of each are recorded here, and make the run fail at its end. */
const folder = (): string => runFolder("rejections");

/** A rejection that nobody caught. */
export interface Rejection {
  /** What it was rejected with, and from where. */
  reason: string;
  /** The full title of the test that ran then, which need not be the one that caused it. */
  running: string;
}

/** The unhandled rejections so far, in all processes. */
export function listRejections(): Rejection[] {
  return readdirSync(folder()).map((file) => JSON.parse(readFileSync(join(folder(), file), "utf8")) as Rejection);
}

/** Records rejections from now on, however often it is called; Mocha forgets listeners after each file. */
export function hearRejections(): void {
  process.removeListener("unhandledRejection", note);
  process.on("unhandledRejection", note);
}

const noted = new WeakSet<Promise<unknown>>();
let running = "no test yet";

/** Called before each test: a rejection is recorded with the test that ran then. */
export function noteRunningTest(title: string): void {
  running = title;
}

/** Records a rejection. It may belong to an earlier file than the one that runs, so it does not make a test fail, but the run. */
function note(reason: unknown, promise: Promise<unknown>): void {
  // Mocha listens, too, and passes on what it has heard.
  if (noted.has(promise)) return;
  noted.add(promise);
  recordRejection(inspect(reason));
}

/** Makes the run fail by what no test can be blamed for. */
export function recordRejection(reason: string): void {
  const rejection: Rejection = { reason, running };
  writeFileSync(join(folder(), randomUUID()), JSON.stringify(rejection));
}
