import { BindingPlan, QueuePlan, levelQueueName } from "@rabbitmq-delay/topology";
import { DeclaredQueue, describeEnforced, matchingChangeOf, networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import type { OwnResource, StackState } from "./stackState";

/**
 * Refuses a change of a network's matching that only a live change may make: an update would declare level 0's queue anew, and delete the
 * messages that wait in it. The state is compared too, because the engine goes by that, and not by the broker.
 * @throws BrokerCheckError with the way to make the change
 */
export async function checkMatchingChange(
  state: StackState,
  vhost: string,
  queues: readonly QueuePlan[],
  found: ReadonlyMap<string, DeclaredQueue>,
): Promise<void> {
  for (const plan of queues) {
    const there = found.get(plan.name);
    const change = there === undefined ? undefined : matchingChangeOf(there.arguments, plan.arguments);
    if (change !== undefined) throw changeError(plan.name, change);
  }
  const resources = await state.resources();
  const unknown = queues.find(({ name, arguments: wanted }) => found.has(name) && isEnforced(wanted));
  if (resources === undefined && unknown !== undefined) {
    throw new BrokerCheckError(
      `matching: the engine does not give this stack's state, so it can't be told whether an update would declare queue ${unknown.name} anew, ` +
        `and delete what waits in it; nothing was made. See that the stack's backend can be read`,
    );
  }
  const inState = queuesInState(resources ?? [], vhost);
  const stale = queues.find(({ name, arguments: wanted }) => {
    return found.has(name) && matchingChangeOf(argumentsOf(inState.get(name)), wanted) !== undefined;
  });
  if (stale === undefined) return;
  throw new BrokerCheckError(
    `matching: queue ${stale.name} leads on the broker where this program wants it, but in this stack's state to another exchange, so ` +
      `that the engine would declare it anew, and delete what waits in it; nothing was made. Run pulumi refresh first, which reads ` +
      `the live change into the state`,
  );
}

/** The settings of a vhost's queues in a stack's state, by name. */
export function queuesInState(resources: readonly OwnResource[], vhost: string): ReadonlyMap<string, unknown> {
  return new Map(
    resources
      .filter(({ type, outputs }) => type === "rabbitmq:index/queue:Queue" && outputs.vhost === vhost)
      .map(({ outputs }) => [String(outputs.name), outputs.settings]),
  );
}

function isEnforced(values: QueuePlan["arguments"]): boolean {
  return networkOfDelivery(String(values["x-dead-letter-exchange"]))?.matching === "enforced";
}

function changeError(queue: string, change: "enforced" | "undone"): BrokerCheckError {
  const [what, way] =
    change === "enforced"
      ? ["is not enforced on the live network yet", "Run rabbitmq-delay enforce"]
      : [
          "is enforced on the live network",
          "Set matching: enforced, and run pulumi refresh. Or run rabbitmq-delay enforce --undo",
        ];
  return new BrokerCheckError(
    `matching: exact matching ${what}, and an update would have to declare queue ${queue} anew, and delete what waits in it; nothing was ` +
      `made. ${way} first, which changes the live network without losing a message, and then pulumi refresh`,
  );
}

/** A queue's arguments in the state: the provider keeps them as JSON, or as texts where somebody imported it. */
export function argumentsOf(settings: unknown): Record<string, unknown> {
  if (typeof settings !== "object" || settings === null) return {};
  const { argumentsJson, arguments: texts } = settings as { argumentsJson?: unknown; arguments?: unknown };
  try {
    const values: unknown = typeof argumentsJson === "string" ? JSON.parse(argumentsJson) : texts;
    return typeof values === "object" && values !== null ? (values as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Refuses a binding at the end of a network that its messages don't reach: the descriptor is from before exact matching was enforced, or from
 * after it was undone.
 * @throws BrokerCheckError with both exchanges
 */
export function checkJoinedEnds(
  bindings: readonly BindingPlan[],
  found: ReadonlyMap<string, Pick<DeclaredQueue, "arguments">>,
): void {
  for (const { source, destination } of bindings) {
    const network = networkOfDelivery(source);
    const level = network === undefined ? undefined : found.get(levelQueueName(network, 0, 1));
    const target = String(level?.arguments["x-dead-letter-exchange"]);
    const reached = level === undefined ? undefined : networkOfDelivery(target);
    if (reached === undefined || reached.prefix !== network?.prefix || target === source) continue;
    throw new BrokerCheckError(
      `network: endpoint ${destination} would be bound to ${source}, which no message of network ${reached.prefix} reaches: on the broker, ` +
        `level 0 leads to ${target}; nothing was made. The descriptor is older than a change of the network's matching: take the one that ` +
        `the network's stack exports now`,
    );
  }
}

/** What enforced matching means for the vendor's own tools, once for a network that is not there yet. */
export function warnOfEnforced(queues: readonly QueuePlan[], found: ReadonlyMap<string, unknown>): string[] {
  return queues
    .filter(({ name }) => !found.has(name))
    .map(({ name, arguments: values }) => describeEnforced(name, values["x-dead-letter-exchange"]))
    .filter((text) => text !== undefined);
}
