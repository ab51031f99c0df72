import type { z } from "zod";
import { checkOwner } from "../access/ownership";
import { removals } from "../removal";
import { adopt } from "../schema/adopt";
import { anything, flag, listOf, object, oneOf, recordOf, text, textBy } from "../schema/fields";
import { lazily, zod } from "../schema/zod";
import { checkBrokerVersion } from "../version";
import { checkStackVhost } from "../vhost";
import { endpointClients, routingTopologies } from "./clientEndpoint";
import { queueTypes } from "./delayNetwork";

/** A queue or exchange of a service that a stack binds to its network. */
export const endpointSchema = lazily(() =>
  object({
    name: text().describe("Name of the queue or exchange, and the destination that publishers give."),
    type: oneOf(["queue", "exchange"]).optional().describe("What the endpoint is on the broker; default `queue`."),
    patterns: listOf(text(), "pattern")
      .optional()
      .describe("Destinations that reach the endpoint, `*` for any one word; default: its name."),
    createQueue: flag().optional().describe("Whether this stack declares the queue; default false: it exists."),
    client: oneOf(endpointClients)
      .optional()
      .describe(
        "Whose client consumes the queue: `nservicebus`, `masstransit` or `celery`; its queue and exchange are then declared as that client would. Default: none that expects anything.",
      ),
    routingTopology: oneOf(routingTopologies)
      .optional()
      .describe("How NServiceBus routes: `conventional` (default), by an exchange for each queue, or `direct`."),
    queueType: oneOf(queueTypes).optional().describe("Type of the declared queue; default `quorum`."),
    retries: flag()
      .optional()
      .describe("Whether the queue gets its failed messages back from the interval queues; default false."),
    errorQueue: text()
      .optional()
      .describe(
        "Name of the error queue, which is declared along, behind an exchange of the same name, unless `errorQueues` has it; default: none.",
      ),
    networks: listOf(text(), "network's name")
      .optional()
      .describe("Names of the networks that the endpoint joins; default: all of the stack."),
    adopt: adopt("queue and exchange"),
    queuePolicy: recordOf(anything(), { what: "a text or a number" })
      .optional()
      .describe(
        "Further keys of the policy that the stack sets for the declared queue, in the broker's words, e.g. `{ max-length: 5000, overflow: reject-publish }`. Only one policy applies to a queue, so that a team's own would have no effect there. Default: none.",
      ),
  }),
);

/** An endpoint as a component takes it, which calls some properties otherwise, and takes networks and descriptors themselves. */
export const endpointBindingSchema = lazily(() => {
  const { shape } = endpointSchema().omit({ networks: true, retries: true });
  const { name: endpoint, type: endpointType, ...shared } = shape;
  return object({
    endpoint,
    network: anything().optional().describe("The network that the endpoint joins."),
    furtherNetworks: zod()
      .array(anything(), { error: "it must be a list" })
      .optional()
      .describe("Further networks that the endpoint joins."),
    retryIntervals: anything().optional().describe("Interval queues that bring failed messages back."),
    endpointType,
    ...shared,
    destination: text().optional().describe("Name of the queue or exchange to bind; default `endpoint`."),
    queueArguments: recordOf(anything(), { what: "an argument" })
      .optional()
      .describe("Further arguments of the declared queue, in the broker's words."),
    removal: oneOf(removals)
      .optional()
      .describe("What happens to the declared queue when it leaves the program; default that of the network."),
    owner: textBy(checkOwner).optional().describe("Whose the endpoint is; default: this stack."),
    formerOwners: texts().describe("What this stack, or its `owner`, was called before."),
    allow: texts().describe("Pairs of names that a vendor's clients mix up and that are meant all the same."),
    vhost: textBy(checkStackVhost).optional().describe("The vhost; default the network's, and `/`."),
    brokerVersion: textBy(checkBrokerVersion)
      .optional()
      .describe("The broker's version where the program knows it, e.g. `4.3.6`."),
  });
});

function texts(): z.ZodOptional<z.ZodArray<z.ZodString>> {
  return zod().array(text(), { error: "it must be a list" }).optional();
}
