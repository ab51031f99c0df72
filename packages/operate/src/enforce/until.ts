import { setTimeout as pause } from "node:timers/promises";
import { EnforceError } from "./enforceError";
import { told } from "./requests";

/**
 * Looks until something holds.
 * @param why what keeps it, as far as that is known
 * @throws EnforceError if that takes longer than `timeoutMs`, or if a look fails
 */
export async function until(
  what: string,
  timeoutMs: number,
  holds: () => Promise<boolean>,
  everyMs = 500,
  why: () => string | undefined = () => undefined,
): Promise<void> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    if (await told(`whether ${what} can't be read`, holds())) return;
    if (Date.now() > endMs) {
      throw new EnforceError(
        `it took more than ${timeoutMs / 1000} s until ${what}: ${why() ?? "see what keeps it, and run this again"}`,
      );
    }
    await pause(everyMs);
  }
}
