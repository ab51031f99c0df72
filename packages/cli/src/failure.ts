/** What the command's exit codes mean. */
export const exitCodes = { done: 0, finding: 1, badInput: 2, outOfReach: 3, ownFault: 70 } as const;

/** A failure with its exit code; the message is one line: what, and how to mend it. */
export class CommandError extends Error {
  constructor(
    readonly exitCode: (typeof exitCodes)[keyof typeof exitCodes],
    message: string,
  ) {
    super(message);
  }
}

/** Whether an error is a mistake in code, and not one that a system or library reports on purpose. */
export function isOwnFault(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  const isMistake = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return isMistake && code === undefined && cause === undefined;
}
