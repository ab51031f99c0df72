import type { QueuePlan } from "@rabbitmq-delay/topology";
import { DeclaredQueue, compareUntyped } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import type { StackState } from "./stackState";
import type { ManagementApi } from "../api/managementApi";

/** Arguments that a quorum queue refuses, or by which it loses waiting messages: declaring it again does not put off its expiry. */
const CLASSIC_ONLY = ["x-queue-mode", "x-max-priority", "x-expires"];

/**
 * The type that a vhost gives a queue without a type; for a vhost that the program makes, the broker's default.
 * @returns undefined if the broker does not say: before 3.11 there is no such default, and if nobody set one, it is classic
 */
export async function defaultQueueTypeOf(
  api: ManagementApi,
  vhost: string,
  isNew = false,
): Promise<string | undefined> {
  const path = isNew ? "overview?columns=default_queue_type" : "vhosts?columns=name,default_queue_type";
  const answer = await api.get<unknown>(path).catch(() => undefined);
  const entries = (Array.isArray(answer) ? answer : [answer]) as (
    { name?: string; default_queue_type?: unknown } | null | undefined
  )[];
  const type = entries.find((entry) => isNew || entry?.name === vhost)?.default_queue_type;
  return typeof type === "string" && type !== "undefined" ? type : undefined;
}

/** @throws BrokerCheckError for a queue that is to be made without a type, as its vendor declares it, and has to be a classic one */
export function checkQueueTypes(missing: readonly QueuePlan[], vhost: string, defaultType: string | undefined): void {
  if (defaultType === undefined || defaultType === "classic") return;
  for (const { name, arguments: values } of missing) {
    const needed = Object.keys(values).find((key) => defaultType === "stream" || CLASSIC_ONLY.includes(key));
    if ("x-queue-type" in values || needed === undefined) continue;
    throw new BrokerCheckError(
      `broker.vhost: ${vhost} makes a ${defaultType} queue of each that is declared without a type (default_queue_type), and ` +
        `${name} is, as its vendor's clients declare it, and has to be classic (${needed}); nothing was made. Set the vhost's ` +
        `default queue type to classic, or take another vhost, preset or queueType`,
    );
  }
}

/**
 * Checks queues that are planned without a type against the vhost's default. What the stack has in its state is not declared again.
 * @throws BrokerCheckError for one that the broker would refuse to declare without a type now, and for one without any argument, which is meant
 * to be a classic queue and would be another one
 */
export async function checkUntyped(
  state: StackState,
  vhost: string,
  planned: readonly QueuePlan[],
  found: { queues: ReadonlyMap<string, DeclaredQueue>; defaultType?: string },
): Promise<void> {
  const { defaultType = "classic" } = found;
  const isOther = ({ arguments: values }: QueuePlan): boolean =>
    defaultType !== "classic" && Object.keys(values).length === 0;
  const suspects = planned.filter((plan) => isOther(plan) || differencesOf(plan, found).length > 0);
  if (suspects.length === 0) return;
  const own = await state.names("rabbitmq:index/queue:Queue", vhost);
  const other = suspects.find(({ name }) => own?.has(name) !== true);
  if (other === undefined) return;
  const why =
    differencesOf(other, found).join() ||
    `queue ${other.name} is planned as a classic one, without a type, as its client declares it, of which the vhost's default_queue_type makes ` +
      `a ${defaultType} queue; set that to classic, or give queueType: quorum`;
  throw new BrokerCheckError(`broker.vhost: ${why}; nothing was made`);
}

function differencesOf(
  plan: QueuePlan,
  { queues, defaultType }: { queues: ReadonlyMap<string, DeclaredQueue>; defaultType?: string },
): string[] {
  return compareUntyped(plan, queues.get(plan.name), defaultType);
}
