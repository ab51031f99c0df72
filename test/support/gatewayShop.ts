import type { ConfirmChannel, Options } from "amqplib";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { delayNetwork, parkingPolicy, planEntities } from "@rabbitmq-delay/topology";
import type { TestBroker } from "./brokers";
import { BrokerSwitch, brokerSwitch } from "./brokerSwitch";
import { openChannel } from "./connect";
import { declareOverAmqp } from "./declare";
import { Receiver } from "./receive";
import { StoreProcess } from "./storeService";
import { temporaryFolder } from "./temporaryFolder";

/** A small network, whose longest delay is about 40 seconds. */
export const shape = { preset: "custom", prefix: "wait", radix: 8, levels: 4, unitMs: 10 } as const;

/**
 * A queue of that network, and the delay of a message that a gateway sends into it. A shorter delay may be over before that on a busy
 * machine: then the message takes no queue at all.
 */
export const firstQueue = { name: "wait.r8x4u10.level-03-1", delayMs: 7000 };

export interface Shop {
  vhost: string;
  channel: ConfirmChannel;
  start: () => Promise<StoreProcess>;
  flags: string[];
}

/** A vhost with a network, an exchange `shop` that a gateway takes from, and queues bound to `shop.delivery` by their names. */
export async function openShop(
  broker: TestBroker,
  more: { network?: { radix: 2; levels: number; unitMs: number }; flags?: string[]; queues?: string[] } = {},
): Promise<Shop> {
  const vhost = await broker.management.createVhost();
  const network = delayNetwork({ ...shape, ...more.network, parking: false, vhost });
  const channel = await openChannel(broker, vhost, { isExpectedToBreak: true });
  await declareOverAmqp(channel, planEntities(network));
  const parking = parkingPolicy(network);
  if (parking !== undefined) await broker.management.call("PUT", `policies/${vhost}/parking`, parking);
  const folder = temporaryFolder();
  const file = join(folder, "network.json");
  writeFileSync(file, JSON.stringify(network));
  await channel.assertExchange("shop.delivery", "topic", { durable: true });
  for (const queue of more.queues ?? ["work"]) {
    await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
    await channel.bindQueue(queue, "shop.delivery", queue);
  }
  const flags = [
    ...["--network", file, "--forward", "shop=shop.delivery", "--declare", "--management", broker.node.managementUrl],
    ...(more.flags ?? []),
  ];
  return { vhost, channel, flags, start: () => StoreProcess.readyGateway(broker, vhost, flags) };
}

/**
 * Starts a gateway whose channel has sent into {@link firstQueue}, with a receiver of `work`, which has got that message, `first`. The first
 * message of a channel to a queue with reject-publish would hold the whole channel up where that queue does not answer.
 */
export async function startUsed(
  broker: TestBroker,
  { vhost, channel, flags }: Shop,
  confirmTimeoutMs: number,
): Promise<{ service: StoreProcess; receiver: Receiver }> {
  const environment = { RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: String(confirmTimeoutMs) };
  const service = await StoreProcess.ready(broker, vhost, flags, environment, "gateway");
  const receiver = await Receiver.on(channel, ["work"]);
  await publish(channel, "work", "first", delayed(firstQueue.delayMs));
  await receiver.until(1);
  return { service, receiver };
}

/** Publishes to `shop`, and waits for the confirm. */
export function publish(
  channel: ConfirmChannel,
  key: string,
  body: string,
  options: Options.Publish = {},
): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.publish(
      "shop",
      key,
      Buffer.from(body),
      { mandatory: true, persistent: true, ...options },
      (error: unknown) => (error instanceof Error ? reject(error) : resolve()),
    ),
  );
}

/** What makes a quorum queue stop answering while it is on. */
export function silenceOf(broker: TestBroker, vhost: string, queue: string): Promise<BrokerSwitch> {
  const resource = `rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>)`;
  const tell = (verb: string): string =>
    `{ok, Q} = rabbit_amqqueue:lookup(${resource}), {N, _} = amqqueue:get_pid(Q), sys:${verb}(N, infinity)`;
  return brokerSwitch(broker, tell("suspend"), tell("resume"));
}

/** Options of a message with a delay. */
export const delayed = (delay: unknown, headers: object = {}): Options.Publish => ({
  headers: { "x-delay": delay, ...headers },
});
