import type * as amqp from "amqplib";
import * as newest from "amqplib-newest";
import * as oldest from "amqplib-oldest";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";

/**
 * amqplib for tests of `@rabbitmq-delay/publish`: the first release that it takes on the older broker, the newest on the newer one. Other
 * tests use the newest, because the first one can't read unsigned numbers. The store has a release of its own.
 */
export function amqplibFor({ node }: TestBroker): typeof amqp {
  return node.installation.root === "" ? oldest : newest;
}

/** How a test's connection is opened. */
export interface ConnectOptions {
  /** Whether the test itself breaks the connection, e.g. by killing the broker. */
  isExpectedToBreak?: boolean;
  /** @default the newest amqplib */
  library?: typeof amqp;
}

/** Opens a connection that is closed after the test; one that broke makes the test fail. */
export async function connect(
  { node }: TestBroker,
  vhost: string,
  { isExpectedToBreak = false, library = newest }: ConnectOptions = {},
): Promise<amqp.ChannelModel> {
  // The frame size of the newest release; the first one has 4 KiB by default, which holds few headers.
  const connection = await library.connect(`${node.amqpUrl}/${vhost}?frameMax=131072`);
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

/** Opens a channel with confirms over the release of amqplib that tests of `@rabbitmq-delay/publish` use. */
export function openPublishChannel(
  broker: TestBroker,
  vhost: string,
  options: ConnectOptions = {},
): Promise<amqp.ConfirmChannel> {
  return openChannel(broker, vhost, { library: amqplibFor(broker), ...options });
}
