import { isAtLeast, managementWayOut, shownAddress } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import { BrokerAddress, ManagementApi, ManagementApiError } from "../api/managementApi";

/** A version that something needs. */
export interface VersionNeed {
  /** The oldest that will do, e.g. `4.3.1`. */
  version: string;
  /** The purpose, as the end of a sentence. */
  reason: string;
}

/** The version that every topology needs. */
const always: VersionNeed = {
  version: "3.10",
  reason: "message TTL and at-least-once dead-lettering in quorum queues",
};

/**
 * Checks that a broker can be reached and is new enough.
 * @returns the version found
 * @throws BrokerCheckError with the version found and the one needed, or why the broker does not say
 */
export async function checkVersion(broker: BrokerAddress, needs: readonly VersionNeed[] = []): Promise<string> {
  const found = await versionOf(broker);
  for (const { version, reason } of [always, ...needs]) {
    if (isAtLeast(found, version)) continue;
    throw new BrokerCheckError(
      `broker.managementUrl: the broker at ${shownAddress(broker.managementUrl)} is RabbitMQ ${found}; ${version} or newer ` +
        `is needed for ${reason}`,
    );
  }
  return found;
}

/** From this version on, there are delivery limits to lift, with settings that older brokers refuse. */
const FIRST_WITH_LIMIT = "4.0";

/**
 * Compares the version that the program gives with the broker's.
 * @param given the version that the program gives, if it does
 * @throws BrokerCheckError with both versions if delivery limits differ between them: the limits would be left as they are, and lose
 * messages, or be set in a form that the broker refuses half-way
 */
export function checkGivenVersion(given: string | undefined, found: string): void {
  if (given === undefined || isAtLeast(given, FIRST_WITH_LIMIT) === isAtLeast(found, FIRST_WITH_LIMIT)) return;
  throw new BrokerCheckError(
    `brokerVersion: ${given} is not what the broker is, RabbitMQ ${found}; delivery limits differ between them, so nothing was ` +
      `made. Set it to ${found}, or leave it out`,
  );
}

async function versionOf(broker: BrokerAddress): Promise<string> {
  const { username } = broker;
  const managementUrl = shownAddress(broker.managementUrl);
  try {
    const overview = await new ManagementApi(broker).get<{ rabbitmq_version?: unknown } | null>("overview");
    const version = overview?.rabbitmq_version;
    if (typeof version === "string" && /^\d+\.\d+/.test(version)) return version;
    throw new BrokerCheckError(
      `broker.managementUrl: ${managementUrl} answers, and names no version of RabbitMQ; ${managementWayOut(broker.managementUrl)}`,
    );
  } catch (error) {
    if (error instanceof BrokerCheckError) throw error;
    const { status, message } = error as ManagementApiError;
    if (status === 401) {
      throw new BrokerCheckError(
        `broker.username: the broker at ${managementUrl} refuses user ${username} or its password, or the user lacks the ` +
          `tag management`,
      );
    }
    if (error instanceof ManagementApiError && error.isTimeOut) {
      throw new BrokerCheckError(
        `broker.managementUrl: ${managementUrl} did not answer in time (${message}), so that nothing is known of the broker; look ` +
          `whether it is overloaded, or a firewall or proxy between swallows the request`,
      );
    }
    if (status === 0) {
      throw new BrokerCheckError(
        `broker.managementUrl: no broker answers at ${managementUrl} (${message}); make up starts a local one, and ` +
          `RABBITMQ_MANAGEMENT_URL or the stack's config points at yours; rabbitmq-plugins enable rabbitmq_management lets a broker ` +
          `answer there`,
        true,
      );
    }
    const wayOut = managementWayOut(broker.managementUrl);
    throw new BrokerCheckError(
      `broker.managementUrl: ${managementUrl} does not answer as RabbitMQ's management API (HTTP ${status}); ${wayOut}`,
    );
  }
}
