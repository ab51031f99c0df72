import type { DelayNetwork } from "rabbitmq-delay-topology";
import type { Allowance } from "./allowances";
import { ConfigError, ProgramConfig } from "./config";

/** How many nodes keep quorum queues when one of them is lost. */
export const PRODUCTION_NODES = 3;

/**
 * Refuses what no production broker should have.
 * @throws ConfigError for the first of it that `allow` does not name: the property, its value, and both ways out
 */
export function checkProduction(config: ProgramConfig, network: DelayNetwork): void {
  if (!config.production) return;
  const { broker, removal, allow } = config;
  // From the environment comes any text; one that is no address is the look at the broker's business.
  const isPlainText = !/^https:/i.test(broker.managementUrl);
  const refusals: [Allowance, boolean, string][] = [
    [
      "removal-delete",
      removal === "delete",
      "removal: delete would delete queues with the messages that wait in them; set removal: retain",
    ],
    [
      "classic-level-queues",
      network.queueType === "classic",
      `network: the queues of preset ${network.preset} are classic here, which lose a message when the broker crashes while it ` +
        "moves on; take a quorum network",
    ],
    ["plain-text", isPlainText, `broker.managementUrl: ${broker.managementUrl} is plain text; give an https address`],
    [
      "unverified-certificate",
      broker.insecure === true,
      "broker.insecure: true takes any certificate for the broker's; give caCertFile instead",
    ],
    ["guest-user", broker.username === "guest", "broker.username: guest is everybody; give a user of its own"],
  ];
  for (const [allowance, isRefused, message] of refusals) {
    if (isRefused && !allow.includes(allowance)) {
      throw new ConfigError(`${message}, or add ${allowance} to allow`);
    }
  }
}
