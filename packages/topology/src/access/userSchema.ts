import type { z } from "zod";
import { endpointClients, routingTopologies } from "../network/clientEndpoint";
import { anything, flag, listOf, object, oneOf, text, textBy } from "../schema/fields";
import { lazily, zod } from "../schema/zod";
import { checkStackVhost } from "../vhost";
import { credentialSchema, userName } from "./credentialSchema";
import { checkOwner } from "./ownership";

/** What a service does on the broker, and its logins, as a component takes them. */
export const userSchema = lazily(() =>
  object({
    user: userName().describe("Name of the user, or start of it where credentials have suffixes."),
    credentials: listOf(credentialSchema(), "login").describe("One login, or two while a password changes."),
    consumes: names().describe("Queues that it consumes."),
    network: anything().optional().describe("The network that it publishes delayed messages into."),
    destinations: names().describe(
      "Endpoints that it may send delayed messages to, beside its own queues; default: any of the network.",
    ),
    retries: zod()
      .array(anything(), { error: "it must be a list" })
      .optional()
      .describe("Descriptors of what its failed messages come back by."),
    publishes: names().describe("Further exchanges that it publishes to."),
    errorQueue: text().optional().describe("Its error queue, an exchange and a queue of this name; default: none."),
    client: oneOf(endpointClients)
      .optional()
      .describe("Whose client the service uses; default: none that asks for more than publishing and consuming."),
    messageTypes: names().describe(
      "With a client: the exchanges of the message types, or events, that it publishes or subscribes to, and of their base classes and " +
        "interfaces; those that the client declares for each of them are granted besides.",
    ),
    routingTopology: oneOf(routingTopologies)
      .optional()
      .describe("How NServiceBus routes: `conventional` (default) or `direct`."),
    owner: textBy(checkOwner).optional().describe("Whose the user is; default: this stack."),
    formerOwners: names().describe("What this stack, or its `owner`, was called before, e.g. `billing/prod`."),
    adopt: flag()
      .optional()
      .describe("Whether a user that is on the broker already is taken over; default false: it is refused."),
    vhost: textBy(checkStackVhost).optional().describe("The vhost; default the network's, and `/` without one."),
  }),
);

function names(): z.ZodOptional<z.ZodArray<z.ZodString>> {
  return zod().array(text(), { error: "it must be a list" }).optional();
}
