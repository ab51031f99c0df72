import { errorText } from "./retry/failure";

/**
 * Calls a caller's listener. A mistake in the listener breaks nothing here, whether it throws or, being async, rejects: an unhandled
 * rejection would end the process.
 * @param name the listener's, for the warning
 */
export function tell<T>(name: string, listener: ((event: T) => unknown) | undefined, event: T): void {
  const warn = (error: unknown): void => process.emitWarning(`${name} threw: ${errorText(error)}`);
  try {
    Promise.resolve(listener?.(event)).catch(warn);
  } catch (error) {
    warn(error);
  }
}
