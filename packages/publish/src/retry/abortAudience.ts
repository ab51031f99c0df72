import { audiences } from "../audience";

/** Shares one abort listener of a signal among all consumers that have the signal. */
export const abortAudience = audiences<AbortSignal, void>((signal, tell) => {
  const onAbort = (): void => tell();
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
});
