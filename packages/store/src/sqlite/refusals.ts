import { MessageRefusedError } from "@rabbitmq-delay/publish";

/** Errors that are about values; source: SQLite's result codes. A key that is there already is none: keys are this package's own. */
const REFUSALS = /^SQLITE_(CONSTRAINT(?!_PRIMARYKEY)|TOOBIG|MISMATCH)/;

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
