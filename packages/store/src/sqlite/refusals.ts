import { MessageRefusedError } from "rabbitmq-delay-publish";

/** Errors that are about values; source: SQLite's result codes. */
const REFUSALS = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/;

/** Writes. @throws MessageRefusedError for a value that SQLite does not take */
export function refusing(write: () => void): void {
  try {
    write();
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (REFUSALS.test(code)) throw new MessageRefusedError("message", message);
    throw error;
  }
}
