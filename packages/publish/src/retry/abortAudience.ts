import { audiences } from "../audience";

/** Who wants to hear that a signal is aborted, however many consumers have the same one. */
export const abortAudience = audiences<AbortSignal, void>((signal, tell) => {
  const onAbort = (): void => tell();
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
});
