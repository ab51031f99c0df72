/** What is given as a preview and is none; the message names the source, and is one line. */
export class PreviewError extends Error {
  override readonly name = "PreviewError";
}
