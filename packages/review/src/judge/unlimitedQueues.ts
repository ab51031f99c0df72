import { describeUnlimited, isLiftedLimit, isUnlimited } from "@rabbitmq-delay/topology/stack";
import { EntityChange, brokerName, queueArguments } from "../preview/entityChange";
import { policiesInForce } from "./policiesInForce";

/** A queue declared anew that asks for no delivery limit, and would have one. */
export interface Limited {
  change: EntityChange;
  /** The limit, in words. */
  detail: string;
}

/**
 * Finds new and replaced queues, outside this project's components, whose preflight looks for them, that ask for no delivery limit by -1 and would have one: by
 * a policy, of whose limit and an argument's the lower counts, or because a broker before 4.0 takes -1 for 0.
 * @param version of the broker; undefined if it was not asked
 */
export function unlimitedQueues(changes: readonly EntityChange[], version: string | undefined): Limited[] {
  const policies = changes.filter(({ kind }) => kind === "policy");
  return changes.flatMap((change): Limited[] => {
    const given = queueArguments(change.after);
    const isNew = change.action === "create" || change.action === "replace";
    const isAsking = change.kind === "queue" && isNew && isUnlimited({ arguments: given });
    if (!isAsking || change.partOf !== undefined) return [];
    const { vhost, name } = change.after ?? {};
    const ofOldBroker = describeUnlimited({ name: brokerName(change), arguments: given }, version);
    if (ofOldBroker !== undefined) return [{ change, detail: `${ofOldBroker}.` }];
    const limits = [false, true].flatMap((isOperators) =>
      policiesInForce([...policies], { vhost, name, queueArguments: given }, "after", isOperators)
        .found.map((policy) => ({ ...policy, limit: policy.view.definition["delivery-limit"] }))
        .filter(({ limit }) => limit !== undefined && !isLiftedLimit(Number(limit))),
    );
    const [first] = limits;
    if (first === undefined) return [];
    return [{ change, detail: `Policy ${brokerName(first.change)} says delivery-limit: ${String(first.limit)}.` }];
  });
}
