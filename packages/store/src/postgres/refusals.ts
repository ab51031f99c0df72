import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { StoreMismatchError } from "../errors";

/**
 * Classes of errors that are about values; source: PostgreSQL's manual, error codes. A duplicate key is not among them: keys are generated
 * by this package, and one exists already if a statement was committed whose answer was lost.
 */
const REFUSALS = /^(22|23(?!505)|54)/;

/** @throws MessageRefusedError for an error that is about values; any other error unchanged */
export function refuseMessage(error: Error & { code?: string }): never {
  if (REFUSALS.test(error.code ?? "")) throw new MessageRefusedError("message", error.message);
  throw error;
}

/** @throws StoreMismatchError for an error that is about values; any other error unchanged */
export function refuseFilter(error: Error & { code?: string }): never {
  if (REFUSALS.test(error.code ?? "")) throw new StoreMismatchError("filter", error.message);
  throw error;
}
