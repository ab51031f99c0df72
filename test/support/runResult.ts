import { relative, resolve } from "node:path";

/** Failed test or hook; each text is one line. */
export interface Failure {
  title: string;
  error: string;
}

/** Results of one test file: the titles of its tests, and its failures. */
export interface FileResult {
  passed: string[];
  skipped: string[];
  failed: Failure[];
}

/** Outcome of one run of Mocha, written by the reporter. */
export interface RunResult {
  /** Results by path from the checkout's root; "" holds failures outside any file, e.g. of a process that died. */
  files: Record<string, FileResult>;
  /** Errors and rejections that nobody caught, which belong to no file for certain. */
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

/** Folder of the checkout. Read at the start, because a test may change to another folder. */
const start = process.cwd();

/** Name under which a file has its results. @param file undefined for what belongs to no file */
export function nameOf(file: string | undefined): string {
  return file === undefined ? "" : relative(start, resolve(start, file));
}

export function emptyResult(): RunResult {
  return { files: {}, rejections: [] };
}

export function addPass(result: RunResult, file: string, title: string): void {
  fileOf(result, file).passed.push(title);
}

export function addSkip(result: RunResult, file: string, title: string): void {
  fileOf(result, file).skipped.push(title);
}

export function addFailure(result: RunResult, file: string, failure: Failure): void {
  fileOf(result, file).failed.push(failure);
}

function fileOf({ files }: RunResult, file: string): FileResult {
  return (files[file] ??= { passed: [], skipped: [], failed: [] });
}

/** Whether anything failed. */
export function hasFailed({ files, rejections }: RunResult): boolean {
  return rejections.length > 0 || Object.values(files).some(({ failed }) => failed.length > 0);
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

/** Joins the first run and those of single files that followed: a file that passed then counts by its second run. */
export function verdictOf(first: RunResult, ...others: RunResult[]): Verdict {
  const again = Object.assign({}, ...others.map(({ files }) => files)) as RunResult["files"];
  const mended = Object.entries(again).filter(([file, result]) => isMended(first.files[file], result));
  const failedAgain = Object.entries(again).filter(([, { failed }]) => failed.length > 0);
  const files = Object.values({ ...first.files, ...Object.fromEntries([...mended, ...failedAgain]) });
  const rejections = [first, ...others].flatMap((run) => run.rejections);
  return {
    passed: files.flatMap(({ passed }) => passed).length,
    failed: files.flatMap(({ failed }) => failed).length + rejections.length,
    skipped: files.flatMap(({ skipped }) => skipped).length,
    flaky: mended.flatMap(([file]) => (first.files[file]?.failed ?? []).map((failure) => ({ file, ...failure }))),
  };
}

/** Whether a file passed the second time; a test that is skipped then, or missing, has not. */
function isMended(first: FileResult = { passed: [], skipped: [], failed: [] }, second: FileResult): boolean {
  const tests = first.failed.map(({ title }) => title).filter((title) => !HOOK.test(title));
  const isPassed = (title: string): boolean => second.passed.includes(title);
  const hasPassed = second.passed.length > 0 && [...first.passed, ...tests].every(isPassed);
  // A hook that failed before all tests kept them from running, and may skip them now.
  return second.failed.length === 0 && hasPassed && second.skipped.every((title) => first.skipped.includes(title));
}

/** Mocha's title of a hook. */
const HOOK = /"(before|after) (each|all)" hook/;
