import { ConfiguredNetwork, shownAddress } from "@rabbitmq-delay/topology/stack";
import type { Allowance } from "@rabbitmq-delay/broker";
import { ConfigError, ProgramConfig } from "./config";

/** How many nodes keep quorum queues when one of them is lost. */
export const PRODUCTION_NODES = 3;

/**
 * Refuses what no production broker should have.
 * @throws ConfigError for all of it that `allow` does not name: each property, its value, and both ways out
 */
export function checkProduction(config: ProgramConfig, networks: readonly ConfiguredNetwork[]): void {
  if (!config.production) return;
  const { broker, cluster, removal, allow } = config;
  const refusals: Refusal[] = [
    [
      "removal-delete",
      removal === "delete",
      "removal: delete would delete queues with the messages that wait in them; set removal: retain",
    ],
    ...networks.map(({ place, network }): Refusal => [
      "classic-level-queues",
      network.queueType === "classic",
      `${place}: the queues of preset ${network.preset} are classic here, which lose a message when the broker crashes while it ` +
        "moves on; take a quorum network",
    ]),
    ...(cluster === undefined ? ofBroker(broker) : ofCluster(cluster)),
  ];
  const refused = refusals
    .filter(([allowance, isRefused]) => isRefused && !allow.includes(allowance))
    .map(([allowance, , message]) => `${message}, or add ${allowance} to allow`);
  if (refused.length > 0) throw new ConfigError(refused.join(". "));
}

type Refusal = [Allowance, boolean, string];

function ofBroker({ managementUrl, insecure, username }: ProgramConfig["broker"]): Refusal[] {
  // From the environment comes any text; one that is no address is the look at the broker's business.
  const isPlainText = !/^https:/i.test(managementUrl);
  return [
    [
      "plain-text",
      isPlainText,
      `broker.managementUrl: ${shownAddress(managementUrl)} is plain text; give an https address`,
    ],
    [
      "unverified-certificate",
      insecure === true,
      "broker.insecure: true takes any certificate for the broker's; give caCertFile instead",
    ],
    ["guest-user", username === "guest", "broker.username: guest is everybody; give a user of its own"],
  ];
}

/** A cluster's nodes are counted before there are any. */
function ofCluster({ replicas, tls, managementUrl, username }: NonNullable<ProgramConfig["cluster"]>): Refusal[] {
  const isPlainWay = managementUrl !== undefined && !/^https:/i.test(managementUrl);
  return [
    [
      "single-node",
      replicas < PRODUCTION_NODES,
      `cluster.replicas: ${replicas} keeps no quorum queue when a node is lost; take ${PRODUCTION_NODES}`,
    ],
    [
      "plain-text",
      tls === undefined,
      "cluster.tls: without it, messages and passwords are plain text; give a Secret or an issuer",
    ],
    [
      "plain-text",
      isPlainWay,
      `cluster.managementUrl: ${shownAddress(managementUrl)} is plain text; give an https address`,
    ],
    ["guest-user", username === "guest", "cluster.username: guest is everybody; give a user of its own"],
  ];
}
