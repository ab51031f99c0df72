import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { BrokerAddress, BrokerCheckError, Expectation, checkBroker, checkVersion } from "@rabbitmq-delay/broker";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { RabbitMqCluster, RabbitMqClusterArgs } from "pulumi-rabbitmq-delay";
import { checkImage, rememberLook, stackState, warn } from "pulumi-rabbitmq-delay/program";
import type { ProgramConfig } from "./config";

/** The broker that a stack declares on. */
export interface StackBroker {
  provider: rabbitmq.Provider;
  /** Where it is, known once it was looked at. */
  address: pulumi.Input<BrokerAddress>;
  /** Its vhost, known once it is there. */
  vhost: pulumi.Input<string>;
  /** Its version, undefined where it can't be known before something is made. */
  brokerVersion: string | undefined;
  /** Stack outputs: how services reach a cluster of this stack's own. */
  outputs: Record<string, unknown>;
}

/**
 * Finds the broker, or makes its cluster, and looks at it before anything is declared on it.
 * @param expect what is going to be declared on a broker of a version
 * @throws BrokerCheckError for a broker that this can't be declared on
 */
export async function findBroker(
  config: ProgramConfig,
  expect: (brokerVersion: string) => Expectation,
): Promise<StackBroker> {
  const { address, outputs, brokerVersion } =
    config.cluster === undefined
      ? await findElsewhere(config.broker, expect)
      : declareCluster(config.cluster, config, expect);
  const known = pulumi.output(address);
  const provider = new rabbitmq.Provider("broker", {
    endpoint: known.managementUrl,
    username: known.username,
    password: pulumi.secret(known.password),
    cacertFile: known.apply(({ caCertFile }) => caCertFile as string),
    insecure: known.apply(({ insecure }) => insecure as boolean),
  });
  rememberLook(provider);
  const vhost = config.createVhost ? declareVhost(config, provider) : config.vhost;
  return { provider, address, vhost, brokerVersion, outputs };
}

type FoundBroker = Pick<StackBroker, "address" | "outputs" | "brokerVersion">;

async function findElsewhere(
  broker: BrokerAddress,
  expect: (brokerVersion: string) => Expectation,
): Promise<FoundBroker> {
  const brokerVersion = await checkVersion(broker);
  return { address: await looked(broker, expect(brokerVersion)), brokerVersion, outputs: {} };
}

/** @returns the broker's address, once nothing speaks against it */
async function looked(broker: BrokerAddress, expectation: Expectation): Promise<BrokerAddress> {
  const warnings = await checkBroker(stackState, broker, expectation);
  await Promise.all(warnings.map(warn));
  return broker;
}

/** A cluster of this stack's own is looked at when its nodes run; a preview looks where it can. */
function declareCluster(
  cluster: NonNullable<ProgramConfig["cluster"]>,
  config: ProgramConfig,
  expect: (brokerVersion: string) => Expectation,
): FoundBroker {
  const args: RabbitMqClusterArgs = { ...cluster, removal: config.removal, password: config.brokerPassword };
  const brokerVersion = inCluster(() => checkImage(args.image, []));
  const expectation = expect(brokerVersion);
  const made = inCluster(() => {
    checkImage(args.image, expectation.needs ?? []);
    return new RabbitMqCluster("rabbitmq", args);
  });
  const { caCertFile } = args;
  const address = pulumi
    .all([made.managementUrl, made.username, made.password])
    .apply(async ([managementUrl, username, password]) => {
      const broker = { managementUrl, username, password, caCertFile };
      return pulumi.runtime.isDryRun() ? lookedIfReached(broker, expectation) : looked(broker, expectation);
    });
  return {
    address,
    brokerVersion,
    outputs: { amqpUrl: made.amqpUrl, credentialsSecret: made.credentialsSecret },
  };
}

/** A refusal of the component says where its property stands in the config. */
function inCluster<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof DelayTopologyError ? error.within("cluster") : error;
  }
}

async function lookedIfReached(broker: BrokerAddress, expectation: Expectation): Promise<BrokerAddress> {
  return looked(broker, expectation).catch(async (error: Error) => {
    if (!(error instanceof BrokerCheckError) || !error.isOutOfReach) throw error;
    await warn(`${error.message}; this preview does not know what is on it`);
    return broker;
  });
}

/** A vhost goes with all its queues, so a stack that retains those retains it, too. */
function declareVhost({ vhost: name, removal }: ProgramConfig, provider: rabbitmq.Provider): pulumi.Output<string> {
  const options = { provider, retainOnDelete: removal === "retain" };
  const vhost = new rabbitmq.VHost("vhost", { name }, options);
  const all = { configure: ".*", write: ".*", read: ".*" };
  const rights = new rabbitmq.Permissions(
    "vhost",
    { user: pulumi.output(provider.username) as pulumi.Output<string>, vhost: vhost.name, permissions: all },
    { provider, retainOnDelete: true },
  );
  return pulumi.all([vhost.name, rights.id]).apply(([made]) => made);
}
