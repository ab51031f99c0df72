import type { DelayGateway, DelayedStore } from "@rabbitmq-delay/topology";
import { narrowedWays } from "@rabbitmq-delay/topology/stack";
import { stackState } from "./stackState";
import { warn } from "./warn";

/**
 * Warns where a gateway or a store may do less with waiting messages than the one that the stack has: only its descriptor changes then, of
 * which a plan shows nothing.
 * @param output the output of the component that has the descriptor
 * @param logicalName the component's
 */
export async function warnOfNarrowing(
  output: "delayGateway" | "delayedStore",
  logicalName: string,
  after: Pick<DelayGateway | DelayedStore, "name" | "errorQueue" | "forwards" | "exchanges" | "toQueues">,
): Promise<void> {
  const type = `rabbitmq-delay:index:${output === "delayGateway" ? "DelayGateway" : "DelayedMessageStore"}`;
  const own = ((await stackState.resources()) ?? []).filter((resource) => resource.type === type);
  // By its URN: two gateways in two vhosts may have one name on their brokers.
  const before = own.find(({ urn }) => urn.endsWith(`::${logicalName}`))?.outputs[output];
  if ((before as { name?: unknown } | null | undefined)?.name !== after.name) return;
  const [first, ...more] = narrowedWays(before, after);
  if (first === undefined) return;
  const rest = more.length === 0 ? "" : `, and ${more.length} more`;
  const where = output === "delayGateway" ? "in its intake and its network" : "in its intake";
  await warn(
    `${output} ${after.name} may no longer ${first}${rest}: once its process runs with the new descriptor, what waits for that ${where} goes to ` +
      `${after.errorQueue}. Make this change when nothing waits for it any more`,
  );
}
