/** Failed test or hook; each text is one line. */
export interface Failure {
  title: string;
  error: string;
}

/** Counts of one test file, with its failures. */
export interface FileResult {
  passed: number;
  skipped: number;
  failed: Failure[];
}

/** Outcome of one run of Mocha, written by the reporter. */
export interface RunResult {
  /** Results by path from the checkout's root; "" holds failures outside any file, e.g. of a process that died. */
  files: Record<string, FileResult>;
  /** Unhandled rejections, which belong to no file for certain. */
  rejections: string[];
}

/** Test that failed in the first run, in a file that passed when it ran alone. */
export interface Flaky extends Failure {
  file: string;
}

/** Outcome of a tier. */
export interface Verdict {
  passed: number;
  failed: number;
  skipped: number;
  flaky: Flaky[];
}

/** Limit of flaky files. A run with more fails, because the machine or the code is broken then, not a test. */
export const MOST_FLAKY_FILES = 3;

export function emptyResult(): RunResult {
  return { files: {}, rejections: [] };
}

export function addPass(result: RunResult, file: string): void {
  fileOf(result, file).passed += 1;
}

export function addSkip(result: RunResult, file: string): void {
  fileOf(result, file).skipped += 1;
}

export function addFailure(result: RunResult, file: string, failure: Failure): void {
  fileOf(result, file).failed.push(failure);
}

function fileOf({ files }: RunResult, file: string): FileResult {
  return (files[file] ??= { passed: 0, skipped: 0, failed: [] });
}

/**
 * Returns the files that run once more, alone.
 * @param isRerun whether a file may run again; no file does if one that may not has failed, because the run fails then anyway
 */
export function filesToRerun({ files, rejections }: RunResult, isRerun: (file: string) => boolean): string[] {
  const failed = Object.keys(files).filter((file) => (files[file] as FileResult).failed.length > 0);
  const isLost = rejections.length > 0 || failed.length > MOST_FLAKY_FILES;
  return isLost || failed.some((file) => file === "" || !isRerun(file)) ? [] : failed;
}

/**
 * Joins both runs: a file that ran again counts by its second run.
 * @param second undefined if no file ran again
 */
export function verdictOf(first: RunResult, second: RunResult = emptyResult()): Verdict {
  const files = Object.values({ ...first.files, ...second.files });
  const rejections = [...first.rejections, ...second.rejections];
  return {
    passed: sum(files.map(({ passed }) => passed)),
    failed: sum(files.map(({ failed }) => failed.length)) + rejections.length,
    skipped: sum(files.map(({ skipped }) => skipped)),
    flaky: Object.entries(second.files).flatMap(([file, { failed }]) =>
      failed.length > 0 ? [] : (first.files[file]?.failed ?? []).map((failure) => ({ file, ...failure })),
    ),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
