let isProvider = false;

/** Notes that this process makes single components for programs in other languages, and doesn't see what else they declare. */
export function serveOtherLanguages(): void {
  isProvider = true;
}

/** Whether this process makes single components for one program in another language, each by a connection of its own. */
export function servesOtherLanguages(): boolean {
  return isProvider;
}
