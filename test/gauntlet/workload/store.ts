import type { ConfirmChannel } from "amqplib";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeliveryType } from "pulumi-rabbitmq-delay";
import { askStore } from "@rabbitmq-delay/store";
import {
  DelayGateway,
  DelayedStore,
  delayGateway,
  delayNetwork,
  delayedStore,
  planDelayGateway,
  planDelayedStore,
  planEntities,
} from "@rabbitmq-delay/topology";
import { LastingChannel } from "../channels";
import { declaredByComponents } from "../declare/components";
import { Entities, declare, entitiesOf, joined } from "../declare/entities";
import { withoutLimits } from "../declare/limits";
import { FakeClock } from "../fakeClock";
import { History, nowMs } from "../history";
import type { BrokerLine, StoreMessage, StorePart, StoreRequest } from "../plan/types";
import { noted, sendByHand } from "../publishing";
import { freePort } from "../rig";
import { openDatabase } from "./database";
import type { Round, RunningPart } from "./part";
import { receiver } from "./receiver";
import { StoreDispatcher } from "./storeDispatcher";

const shape = { preset: "custom", prefix: "waiting", radix: 8, levels: 4, unitMs: 10, parking: false } as const;
const network = delayNetwork(shape);
const forward = { exchange: "orders.delayed", delivery: "orders", type: "direct" as const };

/** Declares a store's or a gateway's side of the broker, starts its processes, and who receives. */
export async function startStore(round: Round, part: StorePart, vhost: string): Promise<RunningPart> {
  const { broker, history, secrets, folder, faults } = round;
  const descriptor =
    part.database === "network"
      ? delayGateway({ network: { ...network, vhost }, forwards: [forward] })
      : delayedStore({ forwards: [forward] });
  const ours = await entitiesFor(part, descriptor, broker.line);
  const queues = part.destinations.map((name) => ({ name, arguments: { "x-queue-type": "quorum" } }));
  const bindings = part.destinations.map((name) => ({
    ...{ source: forward.delivery, destination: name, destinationType: "queue" as const, routingKey: name },
  }));
  const all = joined(ours, withoutLimits(entitiesOf({ queues, bindings }), broker.line));
  await declare(broker, vhost, all);
  const database = await openDatabase(part, folder, secrets);
  const file = join(folder, `${part.name}.descriptor`);
  writeFileSync(file, JSON.stringify(descriptor));
  const url = broker.amqpUrl(vhost);
  const hasJumps = faults.some((fault) => fault.kind === "clock-jump" && fault.part === part.name);
  const dispatchers: StoreDispatcher[] = [];
  for (let index = 0; index < part.instances; index++) {
    const port = await freePort();
    const dispatcher = new StoreDispatcher({
      args: argsOf(descriptor, file, port, vhost),
      environment: { RABBITMQ_URL: url, ...environmentOf(part, database.address) },
      port,
      clock: hasJumps ? await FakeClock.make(join(folder, `${part.name}-${index}.clock`)) : undefined,
      onOutput: (text) => secrets.read(part.name, "the store's output", text),
      onOwnEnd: (error) => history.record({ kind: "uncaught", part: part.name, error }),
    });
    dispatchers.push(dispatcher);
    await dispatcher.start();
  }
  const channels = [new LastingChannel("amqplib", url), new LastingChannel("amqplib", url)] as const;
  const places = part.destinations.map((queue) => ({ queue, place: `queue:${queue}` }));
  return {
    name: part.name,
    vhost,
    queues: all.queues.map(({ name }) => name),
    endpoints: [],
    consumers: [receiver(round, part.name, vhost, [...places, { queue: descriptor.errorQueue, place: "error" }])],
    dispatchers,
    channels: [...channels],
    database,
    publish: (message) => {
      const stored = message as StoreMessage;
      return noted(history, part.name, stored, () => sendOn(channels[0], descriptor, stored));
    },
    request: async (request) => {
      if (descriptor.kind === "delayed-store") await ask(history, part, channels[1], descriptor, request);
    },
    stop: () => database.close(),
  };
}

function argsOf({ kind }: DelayedStore | DelayGateway, file: string, port: number, vhost: string): string[] {
  const common = ["run", "--descriptor", file, "--http", `127.0.0.1:${port}`];
  return kind === "delay-gateway" ? ["gateway", ...common] : ["store", ...common, "--table-prefix", vhost];
}

function environmentOf({ database, batchSize, numberOfRetries }: StorePart, address: string): Record<string, string> {
  const start = database === "network" ? "RABBITMQ_DELAY_GATEWAY" : "RABBITMQ_DELAY_STORE";
  return {
    ...(database === "network" ? {} : { RABBITMQ_DELAY_STORE: address }),
    [`${start}_BATCH_SIZE`]: String(batchSize),
    [`${start}_NUMBER_OF_RETRIES`]: String(numberOfRetries),
  };
}

async function entitiesFor(
  part: StorePart,
  descriptor: DelayedStore | DelayGateway,
  broker: BrokerLine,
): Promise<Entities> {
  if (descriptor.kind === "delay-gateway") return entitiesForGateway(part, descriptor, broker);
  if (part.declaredBy === "plans") {
    return withoutLimits(entitiesOf(planDelayedStore(descriptor)), broker);
  }
  return declaredByComponents(({ DelayedMessageStore }) => [
    new DelayedMessageStore("store", { forwards: [{ ...forward, type: forward.type as DeliveryType }] }),
  ]);
}

async function entitiesForGateway(part: StorePart, gateway: DelayGateway, broker: BrokerLine): Promise<Entities> {
  if (part.declaredBy === "plans") {
    const [around, plan] = [planEntities(gateway.network), planDelayGateway(gateway)];
    const entities = {
      exchanges: [...around.exchanges, ...plan.exchanges],
      queues: [...around.queues, ...plan.queues],
      bindings: [...around.bindings, ...plan.bindings],
    };
    return withoutLimits(entitiesOf(entities), broker);
  }
  return declaredByComponents(({ DelayLevelTopology, DelayGateway: Gateway }) => {
    const topology = new DelayLevelTopology("waiting", shape);
    const forwards = [{ ...forward, type: forward.type as DeliveryType }];
    return [topology, new Gateway("gateway", { network: topology, forwards })];
  });
}

function sendOn(
  { channel }: LastingChannel,
  descriptor: DelayedStore | DelayGateway,
  { n, delayMs, destination, by, forwarded, messageId }: StoreMessage,
): (() => Promise<unknown>) | undefined {
  if (channel === undefined) return undefined;
  // Nobody's queue can't be told from a key that nothing is bound for, so it always goes by the default exchange.
  const exchange = forwarded && destination !== "nobodys-queue" ? forward.exchange : descriptor.name;
  return () => {
    const headers =
      by === "x-delay" ? { "x-delay": delayMs } : { "x-deliver-at": new Date(Date.now() + delayMs + 1).toISOString() };
    const properties = { headers, ...(messageId === undefined ? {} : { messageId }) };
    return sendByHand(channel as ConfirmChannel, exchange, destination, n, properties);
  };
}

async function ask(
  history: History,
  part: StorePart,
  { channel }: LastingChannel,
  { controlQueue }: DelayedStore,
  { operation, messageId, delayMs }: StoreRequest,
): Promise<void> {
  if (channel === undefined) return;
  const since = nowMs();
  const kind = operation === "cancel" ? ("cancelled" as const) : ("rescheduled" as const);
  const event = { kind, part: part.name, messageId, since, at: since, delayMs, count: undefined as number | undefined };
  // Noted before it is asked, because it may be done although no answer comes.
  history.events.push(event);
  const filter = { messageId };
  try {
    const at = new Date(Date.now() + delayMs + 1).toISOString();
    const request = operation === "cancel" ? { operation, filter } : { operation, filter, at };
    const answer = await askStore(
      channel as ConfirmChannel,
      controlQueue,
      request as { operation: "cancel"; filter: object },
    );
    // Of what is in doubt nobody knows whether it arrives.
    event.count = answer.inDoubt === undefined ? answer.count : undefined;
  } catch {
    // Nobody knows whether it was done.
  } finally {
    event.at = nowMs();
  }
}
