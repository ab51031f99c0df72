/** A text given as a preview is not one; the message names the source, and is one line. */
export class PreviewError extends Error {
  override readonly name = "PreviewError";
}
