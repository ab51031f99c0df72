import { randomUUID } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { runFolder } from "./servers";

/** Tests run in several processes; what nobody catches in each is recorded here, and makes the run fail at its end. */
const folder = (): string => runFolder("rejections");

/** A rejection or an error that nobody caught. */
export interface Rejection {
  /** The error, and where it is from. */
  reason: string;
  /** The full title of the test that ran then, which need not be the one that caused it. */
  running: string;
}

/** All so far, in all processes. */
export function listRejections(): Rejection[] {
  return readdirSync(folder()).map((file) => JSON.parse(readFileSync(join(folder(), file), "utf8")) as Rejection);
}

/** Records from now on what nobody catches in this process, also between its files, after each of which Mocha removes the listeners. */
export function hearRejections(): void {
  listen();
  process.on("removeListener", (event, listener) => {
    if (event === "unhandledRejection" && listener === note) queueMicrotask(listen);
  });
  // Mocha takes such an error for one of the test that runs, which need not be the one that caused it.
  process.on("uncaughtExceptionMonitor", (error, origin) => {
    if (origin === "uncaughtException") recordRejection(inspect(error));
  });
}

function listen(): void {
  if (!process.listeners("unhandledRejection").includes(note)) process.on("unhandledRejection", note);
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
