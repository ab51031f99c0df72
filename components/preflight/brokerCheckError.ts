/** A broker that a topology can't be declared on; the message is one line with what is wrong and how to mend it. */
export class BrokerCheckError extends Error {
  override readonly name = "BrokerCheckError";
}
