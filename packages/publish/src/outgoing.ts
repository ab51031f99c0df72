import { MessageRefusedError } from "./errors";
import type { MessageProperties } from "./options";

/** Properties that would make a message early or send copies that bypass its delay, each with the reason. */
const forbidden: Record<string, string> = {
  expiration: "the lower of it and a queue's TTL wins, so it would make the message early; give a delay only",
  CC: "copies would be routed past the delay at every exchange; publish one message per destination",
  BCC: "copies would be routed past the delay at every exchange; publish one message per destination",
  mandatory: "every message is mandatory: one that no queue takes is an error",
  persistent: "every message is persistent: a transient one would be lost in a restart",
  deliveryMode: "every message is persistent: a transient one would be lost in a restart",
};

/** @throws MessageRefusedError for a property that would break a delay */
export function refuseForbidden(options: MessageProperties): void {
  if (typeof options !== "object" || options === null) {
    throw new MessageRefusedError("options", "give an object with exactly one of delayMs and at");
  }
  const headers = (options.headers ?? {}) as Record<string, unknown>;
  for (const [name, reason] of Object.entries(forbidden)) {
    if ((options as Record<string, unknown>)[name] !== undefined) throw new MessageRefusedError(name, reason);
    if (/^B?CC$/.test(name) && headers[name] !== undefined) throw new MessageRefusedError(`headers.${name}`, reason);
  }
}
