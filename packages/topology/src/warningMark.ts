/** Start of each warning of this project's components and program, by which a review tells them from those of others. */
const MARK = "rabbitmq-delay: ";

/** Marks a warning as one of this project's. */
export function markWarning(text: string): string {
  return `${MARK}${text}`;
}

/** Returns the text of a marked warning; undefined for a warning of the engine, of an SDK, or of the rest of the program. */
export function ownWarning(text: string): string | undefined {
  return text.startsWith(MARK) ? text.slice(MARK.length) : undefined;
}
