import { ManagementApi, checkRights } from "@rabbitmq-delay/broker";
import type { BindingPlan, PolicyPlan, QueuePlan } from "@rabbitmq-delay/topology";
import type { LiveMatching } from "./liveMatching";
import type { MatchingChange } from "./matchingChange";
import type { Step } from "./step";

/**
 * Checks that the user may do every step, so that no change stops half-way for want of a right. What exists counts too: whoever deletes an
 * entity needs the same rights as who declares it, and who unbinds the same as who binds. Nothing is made.
 * @param live the vhost as it was when the steps were planned
 * @throws BrokerCheckError naming the user, what it lacks, and what for
 * @throws ManagementApiError if the broker does not answer
 */
export async function checkStepRights(
  api: ManagementApi,
  vhost: string,
  steps: readonly Step[],
  { queue, detour, otherDetour }: MatchingChange,
  live: LiveMatching,
): Promise<void> {
  const exchanges = new Set<string>();
  const queues = new Map<string, QueuePlan>();
  const bindings: BindingPlan[] = [];
  const policies: PolicyPlan[] = [];
  for (const step of steps) {
    if (step.do === "declare-exchange" || step.do === "delete-exchange") exchanges.add(step.exchange);
    if (step.do === "declare-queue") queues.set(step.queue.name, step.queue);
    if (step.do === "drain-queue") {
      const drained = [queue, detour.queue, otherDetour.queue].find(({ name }) => name === step.queue);
      if (drained !== undefined) queues.set(drained.name, drained);
    }
    if (step.do === "bind" || step.do === "unbind") bindings.push(step.binding);
    if (step.do === "set-policy") policies.push(step.policy);
    if (step.do === "delete-policy") policies.push({ ...detour.policy, name: step.policy });
  }
  await checkRights(api, api.username, {
    vhost,
    missing: { exchanges: [...exchanges].map((name) => ({ name })), queues: [...queues.values()], bindings },
    there: { exchanges: new Set(live.exchanges.keys()), queues: new Set(live.queues.keys()) },
    policies,
  });
}
