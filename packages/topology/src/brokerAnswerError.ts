/** A broker that does not answer, refuses, or whose answer can't be one. The message says which, in one line and without a secret. */
export class BrokerAnswerError extends Error {
  override readonly name = "BrokerAnswerError";
}
