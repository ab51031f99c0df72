import { strict as assert } from "node:assert";
import { DelayedMessage, DelayedMessageStore } from "@rabbitmq-delay/store";
import { BatchPublisher, BrokerFaultError, Dispatcher } from "@rabbitmq-delay/store/testing";
import { DueMessages, NewDelayedMessage } from "@rabbitmq-delay/store";
import { Outcome, SteadyClock, dispatchSettings } from "@rabbitmq-delay/store/testing";

const message: DelayedMessage = {
  ...{ id: "1", messageId: "order-17", exchange: "", routingKey: "work", properties: {}, body: Buffer.from("x") },
  ...{ dueAt: new Date(0), attemptAt: new Date(0), failureCount: 0 },
};

describe("Dispatcher, whose database or broker is in the way", () => {
  /** One that has a message in its store until it is removed, and a publisher that does what a test says. */
  const start = (
    due: Partial<DueMessages>,
    publishAll: (messages: NewDelayedMessage[]) => Promise<Outcome<NewDelayedMessage>[]>,
  ): { dispatcher: Dispatcher; stop: () => Promise<void> } => {
    let isThere = true;
    const store = {
      isConcurrent: false,
      next: () => Promise.resolve(isThere ? message.attemptAt : undefined),
      inLock: (work: (given: DueMessages) => Promise<unknown>) =>
        work({
          fetchDue: () => Promise.resolve(isThere ? [message] : []),
          removeAll: async ([removed]: DelayedMessage[]) => void (isThere = isThere && removed === undefined),
          incrementFailureCounts: () => Promise.resolve(),
          ...due,
        } as DueMessages),
    } as unknown as DelayedMessageStore;
    const settings = dispatchSettings.parse({ timeToTriggerDispatchBreakerMs: 50 });
    const publisher = { publishAll, answerTo: () => undefined } as unknown as BatchPublisher;
    const parking = { source: "test", exchange: "error" };
    const dispatcher = new Dispatcher({ store, publisher, clock: new SteadyClock(), parking, settings });
    const ending = new AbortController();
    const ended = dispatcher.run(ending.signal);
    return {
      dispatcher,
      stop: () => {
        ending.abort();
        return ended;
      },
    };
  };
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  // A REVOKE of the database's owner made the same message arrive again and again, and the store was green.
  it("does not publish again what it can't remove, and is red until it can", async () => {
    const published: NewDelayedMessage[] = [];
    let isRefused = true;
    let removed = 0;
    const removeAll = async (messages: DelayedMessage[]): Promise<void> => {
      if (messages.length === 0) return;
      if (isRefused) throw new Error("permission denied");
      removed += 1;
    };
    const fetchDue = (): Promise<DelayedMessage[]> => Promise.resolve(removed === 0 ? [message] : []);
    const { dispatcher, stop } = start({ removeAll, fetchDue }, (messages) => {
      published.push(...messages);
      return Promise.resolve(messages.map((one) => ({ message: one })));
    });
    await until(() => dispatcher.breakers.removal.isTriggered);
    isRefused = false;
    await until(() => removed === 1 && !dispatcher.breakers.removal.isTriggered);
    await stop();
    assert.equal(published.length, 1);
  });

  // A cancel counted a message that lay in the blocked socket, and it arrived afterwards.
  it("notes what the broker may have, and did not answer for", async () => {
    const noted: DelayedMessage[] = [];
    const noteDoubts = async (messages: DelayedMessage[]): Promise<void> => void noted.push(...messages);
    const { stop } = start({ noteDoubts }, (messages) =>
      Promise.reject(new BrokerFaultError(new Error("it took nothing"), [], messages)),
    );
    await until(() => noted.length > 0);
    await stop();
    assert.equal(noted[0], message);
  });
});
