import { strict as assert } from "node:assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import { Breaker, BrokerConnection, LastingFailures } from "@rabbitmq-delay/store/testing";
import { MovedMessages } from "../dist/dispatch/movedMessages";

const nothing = (): void => undefined;

function deliveryOf(messageId: string): OpenDelivery {
  return {
    ...{
      exchange: "",
      routingKey: "work",
      body: Buffer.alloc(10_000),
      isRedelivered: false,
      properties: { messageId },
    },
    ...{ acknowledge: nothing, giveBack: nothing, reject: nothing, deadLetter: nothing, forgetBody: nothing },
  };
}

describe("messages that the broker moves to the error queue", () => {
  // A full queue, or one that drops its oldest message for each new one, never has more messages: each of 2,000 refused messages stayed.
  it("leave the memory, and of many that are not there the oldest are told at once, with their reasons", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const checkQueue = async (): Promise<object> => ({ messageCount: 7, consumerCount: 0 });
    const connection = { channel: async () => ({ checkQueue, close: async () => undefined }) };
    const unseen: string[] = [];
    const moved = new MovedMessages({
      connection: connection as unknown as BrokerConnection,
      parking: { exchange: "delayed.error", source: "delayed.intake" },
      breaker: new Breaker("refuse", new LastingFailures(30_000)),
      events: {
        onStuck: ({ properties }, error, isMoved) => {
          if (isMoved === true) unseen.push(`${properties.messageId}: ${(error as Error).message}`);
        },
      },
    });
    const closing = new AbortController();
    moved.begin(closing.signal);
    const bodies: WeakRef<Buffer>[] = [];
    for (let index = 0; index < 1003; index++) {
      const delivery = deliveryOf(`m${index}`);
      bodies.push(new WeakRef(delivery.body));
      await moved.move(delivery, new Error(`odd ${"x".repeat(5000)}`), true);
    }
    await new Promise((resolve) => setTimeout(resolve));
    collectGarbage();
    assert.ok(bodies.filter((body) => body.deref() !== undefined).length < 10);
    const reason = `it is not in the error queue yet: odd ${"x".repeat(996)}`;
    assert.deepEqual(unseen, [`m0: ${reason}`, `m1: ${reason}`, `m2: ${reason}`]);
    closing.abort();
  });
});
