import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { StoreMismatchError } from "../errors";

/**
 * Classes of errors that are about values; source: PostgreSQL's manual, error codes. A key that is there already is none: keys are this package's
 * own, and it is there because a statement whose answer was lost has been committed.
 */
const REFUSALS = /^(22|23(?!505)|54)/;

/** @throws MessageRefusedError for an error that is about values; any other as it is */
export function refusedMessage(error: Error & { code?: string }): never {
  if (REFUSALS.test(error.code ?? "")) throw new MessageRefusedError("message", error.message);
  throw error;
}

/** @throws StoreMismatchError for an error that is about values; any other as it is */
export function refusedFilter(error: Error & { code?: string }): never {
  if (REFUSALS.test(error.code ?? "")) throw new StoreMismatchError("filter", error.message);
  throw error;
}
