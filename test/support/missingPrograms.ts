import type { Context } from "mocha";

/** This machine can't have a program that tests need. */
export class MissingProgramError extends Error {
  override readonly name = "MissingProgramError";
}

/**
 * Installs a program, or finds it.
 * @throws MissingProgramError with the reason if that fails
 */
export async function installed<T>(install: () => Promise<T>): Promise<T> {
  try {
    return await install();
  } catch (error) {
    throw new MissingProgramError((error as Error).message, { cause: error });
  }
}

/**
 * Skips a suite, or a test, whose program is missing.
 * @throws Error if the program is there and failed, and always in CI, which has all of them
 */
export function skipIfMissing(suite: Context, error: unknown): never {
  if (process.env.CI === "true" || !(error instanceof MissingProgramError)) throw error;
  console.log(`      skipped: ${error.message}`);
  suite.skip();
}

/** Skips a suite, or a test, that needs something of the machine. @throws MissingProgramError in CI, which has it */
export function skipUnless(isThere: boolean, suite: Context, reason: string): void {
  if (!isThere) skipIfMissing(suite, new MissingProgramError(reason));
}
