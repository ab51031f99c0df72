import type { QueuePlan } from "@rabbitmq-delay/topology";
import { describeUnlimited, internalQueueName, longestInternalName } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import { checkList } from "../api/answers";
import { ManagementApi, ManagementApiError } from "../api/managementApi";

/** Queues that a program is going to have. */
export interface PlannedQueues {
  vhost: string;
  /** The broker's. */
  version: string;
  planned: readonly QueuePlan[];
  /** Those that are not on the broker yet. */
  missing: readonly QueuePlan[];
  /** Reads the vhosts that the user may see; a queue in any other can't be compared. */
  vhosts: () => Promise<string[]>;
}

/**
 * Checks queues for what the broker would refuse half-way, or take and lose messages by.
 * @throws BrokerCheckError
 */
export async function checkQueues(api: ManagementApi, queues: PlannedQueues): Promise<void> {
  const [fault] = queues.planned
    .map((queue) => describeUnlimited(queue, queues.version))
    .filter((one) => one !== undefined);
  if (fault !== undefined) throw new BrokerCheckError(`queueArguments: ${fault}; nothing was made`);
  await checkInternalNames(api, queues);
}

/**
 * Checks that the broker can make quorum queues. It runs each as a process that is named by vhost and queue together.
 * @throws BrokerCheckError for a name over 255 bytes, which the broker's own tools fail at (rabbitmq-server issue 17484), and for the name of
 * a queue in another vhost, at which a declaration fails with `cluster_not_formed` (issue 11038)
 */
async function checkInternalNames(api: ManagementApi, { vhost, missing, vhosts }: PlannedQueues): Promise<void> {
  const names = missing
    .filter(({ arguments: values }) => values["x-queue-type"] === "quorum")
    .map(({ name }) => ({ name, internal: internalQueueName(vhost, name) }));
  for (const { name, internal } of names) {
    const bytes = Buffer.byteLength(internal);
    if (bytes <= longestInternalName) continue;
    throw new BrokerCheckError(
      `broker.vhost: the names of vhost ${vhost} and quorum queue ${name} have ${bytes} bytes together, with one between them, and RabbitMQ's tools ` +
        `for the members of such a queue fail from ${longestInternalName + 1} on; nothing was made. Shorten one of them`,
    );
  }
  if (names.length === 0) return;
  for (const other of (await vhosts()).filter((one) => one !== vhost)) {
    const start = internalQueueName(other, "");
    for (const { name, internal } of names.filter((one) => one.internal.startsWith(start))) {
      const rival = internal.slice(start.length);
      if (rival === "" || !(await isQuorumQueue(api, other, rival))) continue;
      throw new BrokerCheckError(
        `broker.vhost: quorum queue ${name} of vhost ${vhost} would have the same name within the broker (${internal}) as queue ${rival} of vhost ` +
          `${other}, and the broker refuses the second one; nothing was made. Choose another prefix, endpoint or vhost`,
      );
    }
  }
}

/** Returns the vhosts that the user may see. */
export async function visibleVhosts(api: ManagementApi): Promise<string[]> {
  const path = "vhosts?columns=name";
  return checkList<{ name: string }>(path, await api.get<unknown>(path), { name: "string" }).map(({ name }) => name);
}

async function isQuorumQueue(api: ManagementApi, vhost: string, name: string): Promise<boolean> {
  try {
    const path = `queues/${encodeURIComponent(vhost)}/${encodeURIComponent(name)}?columns=name,type`;
    const queue = await api.get<{ type?: unknown } | null>(path);
    return queue?.type === "quorum";
  } catch (error) {
    const { status } = error as ManagementApiError;
    // Nobody but the vhost's own users can look there.
    if (status === 404 || status === 401 || status === 403) return false;
    throw error;
  }
}
