/** The change can't go on; what was done so far stays, and another run goes on from there. */
export class EnforceError extends Error {
  override name = "EnforceError";
}
