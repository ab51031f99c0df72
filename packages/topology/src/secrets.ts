/** What an address is called that can't be shown without a part of it that might be a password. */
const UNREADABLE = "an address that can't be read";

/**
 * An address as it may stand in a message: scheme, host and path, without user, password, query and fragment. A text that is no
 * address, or whose password has a `/`, `?` or `#` that is not percent-encoded, is not shown at all: no one can tell where the
 * password ends in it.
 */
export function shownAddress(text: unknown): string {
  if (typeof text !== "string") return UNREADABLE;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return UNREADABLE;
  }
  const isWhole = url.host !== "" && !`${url.pathname}${url.search}${url.hash}`.includes("@");
  return isWhole ? `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}` : UNREADABLE;
}

/** Whether an address names a user or a password, or might. */
export function holdsCredentials(text: string): boolean {
  return text.includes("@");
}
