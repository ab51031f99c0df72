import { BrokerCheckError } from "../brokerCheckError";
import { shellWord } from "./shellWord";
import type { ManagementApi, ManagementApiError } from "../api/managementApi";

interface LimitsAnswer {
  vhost?: string;
  value?: Record<string, unknown>;
}

/**
 * How many queues a vhost may have; undefined if nobody set a limit.
 * @returns `unknown` if the user may not read the vhost's limits
 * @throws BrokerCheckError for an answer that can't be read
 */
export async function queueLimitOf(api: ManagementApi, vhost: string): Promise<number | "unknown" | undefined> {
  let answer: unknown;
  try {
    answer = await api.get<unknown>(`vhost-limits/${encodeURIComponent(vhost)}`);
  } catch (error) {
    const { status, reason } = error as ManagementApiError;
    if (status === 401 || status === 403) return "unknown";
    if (status === 404) return undefined;
    throw new BrokerCheckError(`broker.vhost: the limits of ${vhost} can't be read: ${reason}`);
  }
  if (!Array.isArray(answer)) {
    throw new BrokerCheckError(`broker.managementUrl: the answer to GET vhost-limits/${vhost} is not a list`);
  }
  const limits = (answer as (LimitsAnswer | null)[]).map((entry) => entry?.value?.["max-queues"]);
  // A limit below 0 means no limit.
  return limits.find((limit): limit is number => typeof limit === "number" && limit >= 0);
}

/**
 * Checks that a vhost has room for queues, so that none is made if the last of them would be refused.
 * @param there how many queues the vhost has
 * @param missing how many are made
 * @returns warnings, one line each
 * @throws BrokerCheckError with the limit, and how many queues there would be
 */
export function checkQueueLimit(
  vhost: string,
  limit: number | "unknown" | undefined,
  there: number,
  missing: number,
): string[] {
  if (limit === undefined || missing === 0) return [];
  if (limit === "unknown") {
    return [`the limits of vhost ${vhost} can't be read by this user: one on queues would stop the update half-way`];
  }
  if (there + missing <= limit) return [];
  throw new BrokerCheckError(
    `broker.vhost: ${vhost} may have ${limit} queues (max-queues), has ${there}, and ${missing} are to be made; nothing was made. ` +
      `Raise the limit by rabbitmqctl set_vhost_limits -p ${shellWord(vhost)} '{"max-queues": ${there + missing}}', or more; with the ` +
      "vhost's other limits, which it would take away",
  );
}
