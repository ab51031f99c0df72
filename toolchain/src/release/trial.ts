import { statSync } from "node:fs";
import { join } from "node:path";
import { interrupted } from "../interruption";
import type { Artifact, Release, Use } from "./artifact";
import { hasLicence, isArchive } from "./licence";
import { inScratch } from "./scratch";

/** What became of an artifact. */
export interface Trial {
  file: string;
  /** Undefined when it was not made, or is somewhere else. */
  bytes?: number;
  /** How long it took to install; undefined for one that is only made. */
  seconds?: number;
  /** What was run, or why nothing was. */
  what: string;
  /** What went wrong. */
  failure?: string;
}

/** Weighs an artifact, installs it into an empty folder and uses it; what goes wrong is part of the answer. */
export async function tryOut({ file, mostKiB, isWithoutLicence, use }: Artifact, release: Release): Promise<Trial> {
  const trial: Trial = { file, what: typeof use === "string" ? use : "" };
  try {
    trial.bytes = statSync(join(release.folder, file)).size;
  } catch (error) {
    return { ...trial, failure: (error as Error).message };
  }
  if (trial.bytes > mostKiB * 1024) {
    return { ...trial, failure: `it has ${Math.ceil(trial.bytes / 1024)} KiB, and ${mostKiB} are allowed` };
  }
  if (isArchive(file) && isWithoutLicence !== true && !(await hasLicence(join(release.folder, file)))) {
    return { ...trial, failure: "it has no LICENSE" };
  }
  return typeof use === "string" ? trial : { ...trial, ...(await tryUse(file, use, release)) };
}

/** Installs something into an empty folder and uses it; what goes wrong is part of the answer. */
export async function tryUse(file: string, use: Use, release: Release): Promise<Trial> {
  const trial: Trial = { file, what: "" };
  try {
    await inScratch(async (folder) => {
      release.progress(`installing ${file}`);
      const startedAt = performance.now();
      await use.install(folder, release);
      trial.seconds = (performance.now() - startedAt) / 1000;
      if (trial.seconds > use.mostSeconds) {
        throw new Error(`its installation took ${trial.seconds.toFixed(1)} s, and ${use.mostSeconds} are allowed`);
      }
      release.progress(`using ${file}`);
      trial.what = await use.run(folder, release);
    });
    return trial;
  } catch (error) {
    interrupted.throwIfAborted();
    return { ...trial, failure: (error as Error).message };
  }
}
