import type * as amqp from "amqplib";
import * as newest from "amqplib-newest";
import * as oldest from "amqplib-oldest";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";

/**
 * amqplib as tests use it with a broker: the first release that `@rabbitmq-delay/publish` takes with the older broker, the newest with the
 * newer one. The store has a release of its own.
 */
export function amqplibFor({ node }: TestBroker): typeof amqp {
  return node.installation.root === "" ? oldest : newest;
}

/** How a test's connection is opened. */
export interface ConnectOptions {
  /** Whether the test itself breaks the connection, e.g. by killing the broker. */
  isExpectedToBreak?: boolean;
}

/** Opens a connection that is closed after the test; one that broke makes the test fail. */
export async function connect(
  broker: TestBroker,
  vhost: string,
  { isExpectedToBreak = false }: ConnectOptions = {},
): Promise<amqp.ChannelModel> {
  // The older release would send no headers of over four kilobytes.
  const connection = await amqplibFor(broker).connect(`${broker.node.amqpUrl}/${vhost}?frameMax=131072`);
  let failure: Error | undefined;
  connection.on("error", (error: Error) => (failure = error));
  afterThisTest(async () => {
    if (isExpectedToBreak) return connection.close().catch(() => undefined);
    if (failure === undefined) return connection.close();
    throw new Error(`the test's connection broke: ${failure.message}`);
  });
  return connection;
}

/** Opens a channel with confirms on a connection of its own. */
export async function openChannel(
  broker: TestBroker,
  vhost: string,
  options: ConnectOptions = {},
): Promise<amqp.ConfirmChannel> {
  const channel = await (await connect(broker, vhost, options)).createConfirmChannel();
  // The connection's or the operation's own error says more.
  channel.on("error", () => undefined);
  return channel;
}
