import { DelayedMessageStore } from "@rabbitmq-delay/store";
import {
  BatchPublisher,
  BrokerConnection,
  DispatchOptions,
  Dispatcher,
  DispatcherEvents,
  SteadyClock,
  dispatchSettings,
} from "@rabbitmq-delay/store/testing";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";

/** A running dispatcher. */
export interface RunningDispatcher {
  dispatcher: Dispatcher;
  /** Ends it; resolves when nothing is in hand. */
  stop: () => Promise<void>;
}

/** Additional options of a test's dispatcher. */
export interface DispatcherOptions {
  settings?: DispatchOptions;
  events?: DispatcherEvents;
  clock?: SteadyClock;
}

/** The exchange and queue for messages that a test's dispatchers can't deliver. */
export const errorQueue = "undelivered";

/** Starts a dispatcher, which the caller ends. */
export function startDispatcher(
  { node }: TestBroker,
  vhost: string,
  store: DelayedMessageStore,
  { settings = {}, events, clock = new SteadyClock() }: DispatcherOptions = {},
): RunningDispatcher {
  const connection = new BrokerConnection(`${node.amqpUrl}/${vhost}`, "test");
  const checked = dispatchSettings.parse(settings);
  const publisher = new BatchPublisher(connection, checked.confirmTimeoutMs);
  const parking = { source: "test", exchange: errorQueue };
  const dispatcher = new Dispatcher({ store, publisher, clock, parking, settings: checked, events });
  const ending = new AbortController();
  const ended = dispatcher.run(ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
    await connection.close();
  };
  return { dispatcher, stop };
}

/** Starts a dispatcher that ends with the test. */
export function runDispatcher(...parameters: Parameters<typeof startDispatcher>): RunningDispatcher {
  const running = startDispatcher(...parameters);
  afterThisTest(running.stop);
  return running;
}
