import type { BindingPlan } from "@rabbitmq-delay/topology";
import type { DeclaredQueue } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";

/**
 * Checks that no planned binding leads to a queue that only the connection which declared it may use: the broker refuses the binding.
 * @param queues what is on the broker, by its name
 * @throws BrokerCheckError with the queue, and the way out
 */
export function checkExclusive(bindings: readonly BindingPlan[], queues: ReadonlyMap<string, DeclaredQueue>): void {
  const refused = bindings.find(
    ({ destination, destinationType }) => destinationType === "queue" && queues.get(destination)?.exclusive === true,
  );
  if (refused === undefined) return;
  throw new BrokerCheckError(
    `endpoints: queue ${refused.destination} is exclusive: it goes with the connection that declared it, and no other one may bind it; ` +
      `nothing was made. Let its client declare a queue that stays, or leave it out here`,
  );
}
