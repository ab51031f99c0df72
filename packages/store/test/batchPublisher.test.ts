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

/** Answers come at once; a process that was not on a core for this long takes them for none. */
const PATIENCE_MS = 200;

describe("BatchPublisher", () => {
  const publisherTo = (takes: (messageId: string) => boolean, blockedReason?: string): BatchPublisher => {
    const channel = (): Promise<unknown> => Promise.resolve(new SilentChannel(takes));
    return new BatchPublisher({ channel, blockedReason } as unknown as BrokerConnection, PATIENCE_MS);
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
    // One that is tried beside others fails by no fault of its own, and is not sent while an earlier one may still be answered.
    const outcomes = new Map((await publisher.publishAll([more, other])).map((one) => [one.message, one]));
    assert.deepEqual(outcomes.get(other), { message: other, error: undefined });
    assert.deepEqual([outcomes.get(more)?.isSilent, outcomes.get(more)?.isInDoubt], [true, undefined]);
    assert.match(String(outcomes.get(more)?.error), /queue work has not answered for an earlier message yet/);

    const connection = { blockedReason: undefined as string | undefined };
    const channel = (): Promise<unknown> => {
      connection.blockedReason = "low on memory";
      return Promise.resolve(new SilentChannel(() => false));
    };
    const blocked = new BatchPublisher(
      Object.assign(connection, { channel }) as unknown as BrokerConnection,
      PATIENCE_MS,
    );
    await assert.rejects(blocked.publishAll([hung]), BrokerFaultError);
    assert.equal(blocked.findHeldBack([hung]).size, 0);
  });

  // One queue that hangs holds up the broker's channel, and with it all that is published there.
  it("tries destinations that were silent together each on a channel of its own, and uses no silent channel for others", async () => {
    const channels: string[][] = [];
    const channel = (): Promise<unknown> => {
      const sent: string[] = [];
      channels.push(sent);
      return Promise.resolve(
        new SilentChannel((id) => {
          sent.push(id);
          return !sent.some((each) => each.startsWith("hung"));
        }),
      );
    };
    const publisher = new BatchPublisher({ channel } as unknown as BrokerConnection, PATIENCE_MS);
    const to = (messageId: string, routingKey: string): NewDelayedMessage => ({ ...message(messageId), routingKey });
    const all = [to("hung 1", "hung"), to("a 1", "a"), to("a 2", "a"), to("b 1", "b"), to("hung 2", "hung")];
    await assert.rejects(publisher.publishAll(all), BrokerFaultError);
    assert.equal(publisher.findHeldBack(all).size, all.length);
    await new Promise((resolve) => setTimeout(resolve, 10 * PATIENCE_MS + 10));
    const held = publisher.findHeldBack(all);
    assert.deepEqual(
      [...held.keys()].map(({ messageId }) => messageId),
      ["a 2", "hung 2"],
    );
    const tried = await publisher.publishAll(all.filter((one) => !held.has(one)));
    assert.deepEqual(tried.map(({ message: { messageId }, isSilent = false }) => `${messageId} ${isSilent}`).sort(), [
      "a 1 false",
      "b 1 false",
      "hung 1 true",
    ]);
    assert.equal(channels.length, 4);
    const [taken] = await publisher.publishAll([to("a 2", "a")]);
    assert.deepEqual([taken?.error, channels.length, channels.at(-1)], [undefined, 5, ["a 2"]]);
    // What hangs is sent one message, and no other one before its answer.
    const [again] = await publisher
      .publishAll([to("hung 2", "hung"), to("a 3", "a")])
      .then((outcomes) => outcomes.filter(({ isSilent }) => isSilent));
    assert.match(String(again?.error), /has not answered/);
    assert.equal(channels.flat().filter((id) => id.startsWith("hung")).length, 3);
  });

  it("leaves the waiting for late answers to a caller that sends each message once", async () => {
    let count = 0;
    const channel = (): Promise<unknown> => {
      count++;
      return Promise.resolve(new SilentChannel((id) => id === "other"));
    };
    const publisher = new BatchPublisher({ channel } as unknown as BrokerConnection, 50, { isEachSentOnce: true });
    const [hung, other] = [message("hung"), { ...message("other"), routingKey: "other" }];
    await assert.rejects(publisher.publishAll([hung]), BrokerFaultError);
    assert.equal(publisher.findHeldBack([hung]).size, 0);
    assert.ok(publisher.answerTo(hung) instanceof Promise);
    await publisher.publishAll([other]);
    assert.equal(count, 1);
  });
});
