import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Listr } from "listr2";
import { findEngine } from "../engine";
import { interrupted } from "../interruption";
import { localFolder } from "../paths";
import type { Release, ReleasePart } from "./artifact";
import { releaseParts } from "./parts";
import { withBroker } from "./releaseBroker";
import { releaseVersion } from "./releaseVersion";
import { tableOf } from "./table";
import { Trial, tryOut } from "./trial";

/** Where the artifacts are kept. */
const releaseFolder = join(localFolder, "release");

/**
 * `make release-dry-run`: makes all that a release publishes, installs each artifact into an empty folder and uses it there.
 * @throws Error when something went wrong with one of them, after all were tried
 */
export async function dryRun(progress: (line: string) => void): Promise<void> {
  const version = releaseVersion();
  rmSync(releaseFolder, { recursive: true, force: true });
  mkdirSync(releaseFolder, { recursive: true });
  const engine = await findEngine(progress);
  const trials: Trial[] = [];
  await withBroker(progress, async (broker) => {
    const release = { version, folder: releaseFolder, engine, broker };
    const tasks = new Listr(
      releaseParts(version).map((part) => ({
        title: part.title,
        // After one that failed, the others are tried; after an interruption, none is.
        skip: () => interrupted.aborted,
        task: async (_context, task) => {
          const found = await tryPart(part, { ...release, progress: (line) => (task.output = line) });
          trials.push(...found);
          const failed = found.filter(({ failure }) => failure !== undefined);
          if (failed.length > 0) throw new Error(`${part.title}: ${failed.map(({ file }) => file).join(", ")} failed`);
        },
      })),
      { exitOnError: false, registerSignalListeners: false },
    );
    await tasks.run();
    interrupted.throwIfAborted();
  });
  console.log(`\n${tableOf(trials)}\n\n${releaseFolder}`);
  const count = trials.filter(({ failure }) => failure !== undefined).length;
  if (count > 0) throw new Error(`${count} of ${trials.length} artifacts failed`);
}

/** Makes the artifacts of a part, and tries out each. */
export async function tryPart({ artifacts, make, missing }: ReleasePart, release: Release): Promise<Trial[]> {
  const lacking = await missing?.();
  interrupted.throwIfAborted();
  if (lacking !== undefined) {
    const what = `not made: this machine has no ${lacking}`;
    const failure = process.env.CI === "true" ? what : undefined;
    return artifacts.map(({ file }) => ({ file, what, failure }));
  }
  try {
    release.progress("making them");
    await make(release);
  } catch (error) {
    interrupted.throwIfAborted();
    return artifacts.map(({ file }) => ({ file, what: "", failure: (error as Error).message }));
  }
  const trials: Trial[] = [];
  for (const artifact of artifacts) trials.push(await tryOut(artifact, release));
  return trials;
}
