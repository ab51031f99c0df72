import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import { NewDelayedMessage } from "@rabbitmq-delay/store";
import { BatchPublisher, BrokerConnection, BrokerFaultError } from "@rabbitmq-delay/store/testing";

const message = (messageId: string): NewDelayedMessage => ({
  ...{ messageId, dueAt: new Date(0), exchange: "", routingKey: "work", properties: {}, body: Buffer.from("x") },
});

/** A broker that takes what a test lets it take, and says nothing to the rest. */
class SilentChannel extends EventEmitter {
  constructor(private readonly takes: (messageId: string) => boolean) {
    super();
  }

  publish(_exchange: string, _key: string, _body: Buffer, options: { messageId: string }, done: () => void): boolean {
    if (this.takes(options.messageId)) setImmediate(done);
    return true;
  }

  /** By which a channel is known to have confirms. */
  waitForConfirms(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe("BatchPublisher", () => {
  const publisherTo = (takes: (messageId: string) => boolean, blockedReason?: string): BatchPublisher => {
    const channel = (): Promise<unknown> => Promise.resolve(new SilentChannel(takes));
    return new BatchPublisher({ channel, blockedReason } as unknown as BrokerConnection, 50);
  };

  // What lay in a socket that the broker did not read was cancelled, counted so, and arrived when the alarm was over.
  it("knows what the broker may have, where it does not answer", async () => {
    const given = [message("a"), message("b")];
    await assert.rejects(publisherTo(() => false).publishAll(given), (error: BrokerFaultError) => {
      assert.deepEqual(error.inDoubt, given);
      return true;
    });
    const [first, second] = await publisherTo((id) => id === "a").publishAll(given);
    assert.deepEqual([first?.error, first?.isInDoubt, second?.isInDoubt], [undefined, undefined, true]);
  });

  it("has no doubt about what it did not send", async () => {
    await assert.rejects(
      publisherTo(() => false, "low on memory").publishAll([message("a")]),
      (error: BrokerFaultError) => error.inDoubt.length === 0,
    );
  });

  // Whatever else was due waited behind them, and each of them was sent anew at each try.
  it("holds back what is for a destination that answers nothing, unless the broker has said that it takes nothing", async () => {
    const [hung, more, other] = [message("hung"), message("more"), { ...message("other"), routingKey: "other" }];
    const publisher = publisherTo((id) => id === "other");
    await assert.rejects(publisher.publishAll([hung]), BrokerFaultError);
    assert.deepEqual([...publisher.findHeldBack([hung, more, other]).keys()], [hung, more]);
    // One that is tried beside others fails by no fault of its own.
    const [taken, tried] = await publisher.publishAll([hung, other]);
    assert.deepEqual([tried?.isSilent, tried?.isInDoubt, taken?.isSilent], [true, true, undefined]);

    const connection = { blockedReason: undefined as string | undefined };
    const channel = (): Promise<unknown> => {
      connection.blockedReason = "low on memory";
      return Promise.resolve(new SilentChannel(() => false));
    };
    const blocked = new BatchPublisher(Object.assign(connection, { channel }) as unknown as BrokerConnection, 50);
    await assert.rejects(blocked.publishAll([hung]), BrokerFaultError);
    assert.equal(blocked.findHeldBack([hung]).size, 0);
  });
});
