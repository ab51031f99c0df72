import { BrokerCheckError } from "./brokerCheckError";
import { BrokerAddress, ManagementApi, ManagementApiError } from "./managementApi";

/** A version that something needs. */
export interface VersionNeed {
  /** The oldest that will do, e.g. `4.3.1`. */
  version: string;
  /** What for, as the end of a sentence. */
  reason: string;
}

/** What every topology needs. */
const always: VersionNeed = {
  version: "3.10",
  reason: "message TTL and at-least-once dead-lettering in quorum queues",
};

/**
 * Looks whether a broker can be reached and is new enough.
 * @throws BrokerCheckError with the version found and the one needed, or why the broker does not say
 */
export async function checkVersion(broker: BrokerAddress, needs: readonly VersionNeed[] = []): Promise<void> {
  const found = await versionOf(broker);
  for (const { version, reason } of [always, ...needs]) {
    if (isAtLeast(found, version)) continue;
    throw new BrokerCheckError(
      `broker.managementUrl: the broker at ${broker.managementUrl} is RabbitMQ ${found}; ${version} or newer is needed for ` +
        reason,
    );
  }
}

async function versionOf(broker: BrokerAddress): Promise<string> {
  const { managementUrl, username } = broker;
  try {
    const overview = await new ManagementApi(broker).get<{ rabbitmq_version?: string }>("overview");
    return overview.rabbitmq_version ?? "unknown";
  } catch (error) {
    if (error instanceof BrokerCheckError) throw error;
    const { status, message } = error as ManagementApiError;
    if (status === 401) {
      throw new BrokerCheckError(
        `broker.username: the broker at ${managementUrl} refuses user ${username} or its password, or the user lacks the ` +
          `tag management`,
      );
    }
    if (status === 0) {
      throw new BrokerCheckError(
        `broker.managementUrl: no broker answers at ${managementUrl} (${message}); make up starts a local one, and ` +
          `RABBITMQ_MANAGEMENT_URL or the stack's config points at yours`,
        true,
      );
    }
    throw new BrokerCheckError(
      `broker.managementUrl: ${managementUrl} is not RabbitMQ's management API (HTTP ${status}); enable the plugin with ` +
        `rabbitmq-plugins enable rabbitmq_management`,
    );
  }
}

/** Numeric comparison of dotted versions; parts that are no numbers count as 0. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [found, needed] = [version, oldest].map((text) => text.split(/[.+-]/).map((part) => Number(part) || 0));
  for (let index = 0; index < (needed as number[]).length; index++) {
    const difference = ((found as number[])[index] ?? 0) - ((needed as number[])[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
