import { strict as assert } from "node:assert";
import type { QueuePlan } from "@rabbitmq-delay/topology";
import { LeaseRenewal } from "../dist/hold/leaseRenewal";

const leased = {
  name: "held",
  arguments: { "x-message-ttl": 10, "x-expires": 1000 },
  durable: true,
} as unknown as QueuePlan;
const lasting = { ...leased, arguments: { "x-message-ttl": 10 } } as QueuePlan;

/** Declares of a caller's channel and of those beside it, with a clock of its own. */
class Broker {
  now = 0;
  readonly declares: string[] = [];
  /** Refusals of the next declares beside the caller's channel. */
  refusals: (Error | undefined)[] = [];
  answerMs = 0;
  open = 0;
  readonly channel = this.channelOf("own", { _conn: { acquire: () => Promise.resolve(this.besideChannel()) } });
  readonly renewal = new LeaseRenewal(this.channel, () => this.now);

  /** A channel beside the caller's stays open for a moment, in case of another question. */
  async leavesNoChannel(): Promise<void> {
    while (this.open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(this.open, 0);
  }

  private besideChannel(): object {
    this.open++;
    return this.channelOf("beside", {});
  }

  private channelOf(name: string, more: object): object {
    return {
      ...more,
      queueDeclare: async () => {
        this.declares.push(name);
        if (name === "own") this.now += this.answerMs;
        const refusal = name === "beside" ? this.refusals.shift() : undefined;
        if (refusal === undefined) return;
        this.open--;
        throw refusal;
      },
      close: async () => void this.open--,
    };
  }
}

describe("the renewal of a lease", () => {
  // A broker whose timer fired while it answered a declare deleted the queue, and confirmed what was published into it.
  it("counts only if the broker answered an earlier declare before, whose lease goes on", async () => {
    const broker = new Broker();
    await broker.renewal.declareQueue(leased);
    assert.deepEqual(broker.declares, ["own", "beside"], "nobody knows when its lease ends");
    broker.now = 799;
    await broker.renewal.declareQueue(leased);
    broker.now += 799;
    await broker.renewal.declareQueue(leased);
    assert.deepEqual(broker.declares.splice(0), ["own", "beside", "own", "own"]);
    broker.now += 800;
    await broker.renewal.declareQueue(leased);
    assert.deepEqual(broker.declares.splice(0), ["own", "beside"], "its lease may be over");
    broker.answerMs = 101;
    await broker.renewal.declareQueue(leased);
    assert.deepEqual(broker.declares.splice(0), ["own", "beside"], "answered late");
    await broker.renewal.declareQueue(lasting);
    assert.deepEqual(broker.declares, ["own"], "has no lease");
    await broker.leavesNoChannel();
  });

  it("is one for messages that come at the same time: the second declare of a channel is the first one's", async () => {
    const broker = new Broker();
    await Promise.all(Array.from({ length: 5 }, () => broker.renewal.declareQueue(leased)));
    assert.deepEqual(broker.declares.sort(), ["beside", "own", "own", "own", "own", "own"]);
    await broker.leavesNoChannel();
  });

  it("waits while the broker does not find the queue that it deletes, and asks on the caller's channel when all else fails", async () => {
    const broker = new Broker();
    const going = Object.assign(new Error("home node of durable queue is down"), { code: "NOT_FOUND" });
    broker.refusals = [going, going];
    await broker.renewal.declareQueue(leased);
    assert.deepEqual(broker.declares.splice(0), ["own", "beside", "beside", "beside"]);
    broker.now += 1000;
    broker.refusals = [new Error("no channels left")];
    await broker.renewal.declareQueue(leased);
    assert.deepEqual(broker.declares.splice(0), ["own", "beside", "own"]);
    await broker.leavesNoChannel();
  });
});
