import { strict as assert } from "node:assert";
import { join } from "node:path";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { TestStack } from "../support/stack";
import { Resource, queue } from "./plainResources";

const exchange = (name: string, settings: object = {}, opts = {}): Resource => ({
  type: "Exchange",
  name,
  args: { name, settings: { type: "topic", durable: true, ...settings } },
  opts,
});
const fanout = (name: string): Resource => exchange(name, { type: "fanout" });
const leading = (name: string, alternate: string, more: object = {}, opts = {}): Resource =>
  exchange(name, { arguments: { "alternate-exchange": alternate }, ...more }, opts);
const BINDINGS = "urn:pulumi:test::plain::rabbitmq:index/binding:Binding::";
const DELETED_FIRST = { replaceOnChanges: ["settings"], deleteBeforeReplace: true };
/** Binds a queue to an exchange, `in -> q`, or an exchange, `in => out`. */
const bound = (way: string, routingKey = "#", opts = {}): Resource => {
  const [source, sign, destination] = way.split(" ");
  const destinationType = sign === "=>" ? "exchange" : "queue";
  return { type: "Binding", name: way, args: { source, destination, destinationType, routingKey }, opts };
};
const feeding = (name: string, to: string, more: object = {}): Resource =>
  queue(name, { "x-dead-letter-exchange": to, "x-dead-letter-routing-key": "k", ...more });

/** An edit by which what a queue passes on gets nowhere any more. */
interface Edit {
  /** Parts of the program that stay, leave and come. */
  kept: Resource[];
  gone?: Resource[];
  made?: Resource[];
  /** Findings that tell it, as `rule: entity`. */
  told: string;
  /** The queue to which its messages came before. */
  end: string;
  /** The queue of which they come, besides its dead-letter exchange; `via` an exchange if they come to it by the key of their end. */
  feeder?: { to: string; more?: object; via?: string };
  /** A binding made by hand, or deleted, as a path of the management API. */
  byHand?: string;
  unboundByHand?: string;
  /** The logical name of a binding whose loss is accepted. */
  accepted?: string;
}

/** Leaves each message its own key: that of the queue to which it was sent. */
const OWN_KEY = { "x-dead-letter-routing-key": undefined };

/** Each has names of its own, so that all are one update. */
const edits: Record<string, Edit> = {
  "a new binding to an exchange takes messages from the alternate exchange": {
    kept: [fanout("a.spare"), queue("a.q"), bound("a.spare -> a.q"), leading("a", "a.spare"), exchange("a.out")],
    made: [bound("a => a.out")],
    told: "unroutable-lost: binding a → a.out",
    end: "a.q",
  },
  "a binding to an exchange gets wider than what is bound there": {
    kept: [
      ...[fanout("b.spare"), queue("b.q"), bound("b.spare -> b.q"), leading("b", "b.spare"), exchange("b.out")],
      bound("b.out -> b.q", "x"),
    ],
    gone: [bound("b => b.out", "x")],
    made: [bound("b => b.out")],
    told: "unroutable-lost: binding b → b.out",
    end: "b.q",
  },
  "the alternate exchange leads to an exchange to which nothing is bound": {
    kept: [fanout("c.spare"), exchange("c.out"), bound("c.spare => c.out"), leading("c", "c.spare"), queue("c.q")],
    gone: [bound("c -> c.q")],
    told: "unroutable-lost: binding c → c.q",
    end: "c.q",
  },
  "an exchange deletes itself with its last binding": {
    kept: [fanout("d.spare"), queue("d.q"), bound("d.spare -> d.q"), leading("d", "d.spare", { autoDelete: true })],
    gone: [bound("d -> d.q", "k")],
    told: "binding-gone: binding d → d.q",
    end: "d.q",
  },
  "a queue goes that a service bound itself": {
    kept: [exchange("e")],
    gone: [queue("e.q")],
    told: "unroutable-lost: queue e.q",
    end: "e.q",
    byHand: "e/q/e.q",
  },
  "a queue goes, whose binding is kept": {
    kept: [exchange("f")],
    gone: [queue("f.q"), bound("f -> f.q", "#", { retainOnDelete: true })],
    told: "unroutable-lost: queue f.q",
    end: "f.q",
  },
  "an exchange behind another one goes, whose binding is kept": {
    kept: [exchange("g"), queue("g.q")],
    gone: [exchange("g.out"), bound("g => g.out", "#", { retainOnDelete: true }), bound("g.out -> g.q")],
    told: "unroutable-lost: binding g.out → g.q",
    end: "g.q",
  },
  "a queue gets another name": {
    kept: [],
    gone: [queue("h.q")],
    made: [{ ...queue("h.other"), name: "h.q" }],
    told: "unroutable-lost: queue h.q",
    end: "h.q",
    feeder: { to: "", more: { "x-dead-letter-routing-key": "h.q" } },
  },
  // "The queues before it hold back what comes out of them": not without reject-publish.
  "a queue dead-letters at least once, and drops its oldest": {
    kept: [exchange("i"), queue("i.q")],
    gone: [bound("i -> i.q")],
    told: "unroutable-lost: binding i → i.q",
    end: "i.q",
    feeder: { to: "i", more: { "x-dead-letter-strategy": "at-least-once" } },
  },
  "an exchange has no alternate exchange any more": {
    kept: [fanout("j.spare"), queue("j.q"), bound("j.spare -> j.q")],
    gone: [leading("j", "j.spare", {}, DELETED_FIRST)],
    made: [exchange("j", {}, DELETED_FIRST)],
    told: "unroutable-lost: exchange j",
    end: "j.q",
  },
  "a new binding takes a key that only an unchanged binding names": {
    kept: [
      ...[exchange("k.spare", { type: "direct" }), queue("k.q"), bound("k.spare -> k.q", "k.feeder")],
      ...[leading("k", "k.spare"), exchange("k.out")],
    ],
    made: [bound("k => k.out")],
    told: "unroutable-lost: binding k → k.out",
    end: "k.q",
    feeder: { to: "k", more: OWN_KEY },
  },
  "the exchange of the queue's name takes less than the queue got": {
    kept: [exchange("l"), exchange("l.q"), queue("l.q"), bound("l.q -> l.q", "z")],
    gone: [bound("l -> l.q")],
    made: [bound("l => l.q")],
    told: "unroutable-lost: binding l → l.q",
    end: "l.q",
  },
  "a new binding leads back to the queue from which messages come": {
    kept: [exchange("m.spare"), queue("m.q"), bound("m.spare -> m.q"), leading("m", "m.spare")],
    made: [bound("m -> m.feeder")],
    told: "unroutable-lost: binding m → m.feeder",
    end: "m.q",
  },
  "a queue gets another name, and messages by their own keys": {
    kept: [exchange("n.src"), bound("n.src -> n.feeder", "n.q")],
    gone: [queue("n.q")],
    made: [{ ...queue("n.other"), name: "n.q" }],
    told: "unroutable-lost: queue n.q",
    end: "n.q",
    feeder: { to: "", more: OWN_KEY, via: "n.src" },
  },
  "a binding goes beside a wider one, which somebody deleted": {
    kept: [exchange("o"), queue("o.q"), bound("o -> o.q")],
    gone: [{ ...bound("o -> o.q", "k"), name: "o.narrow" }],
    told: "unroutable-lost: binding o → o.q",
    end: "o.q",
    unboundByHand: "o/q/o.q/%23",
  },
  "a binding at the alternate exchange goes, which is accepted": {
    kept: [
      ...[fanout("p.spare"), queue("p.q"), queue("p.q2"), bound("p.spare -> p.q"), leading("p", "p.spare")],
      exchange("p.out"),
    ],
    gone: [bound("p.spare -> p.q2")],
    made: [bound("p => p.out")],
    told: "unroutable-lost: binding p → p.out",
    end: "p.q",
    accepted: "p.spare -> p.q2",
  },
  "a new binding leads to a queue in which messages expire, without a way on": {
    kept: [
      ...[exchange("q.spare"), queue("q.q"), bound("q.spare -> q.q"), leading("q", "q.spare"), exchange("q.out")],
      ...[bound("q.out -> q.q", "other"), feeding("q.wait", "q.out", { "x-message-ttl": 10, ...OWN_KEY })],
    ],
    made: [bound("q -> q.wait")],
    told: "unroutable-lost: binding q → q.wait",
    end: "q.q",
  },
};

/** Edits by which each message still comes to a queue, `endAfter`. */
const controls: (Edit & { endAfter: string })[] = [
  { kept: [exchange("z"), queue("z.q"), bound("z -> z.q")], told: "", end: "z.q", endAfter: "z.q" },
  // The deleted binding was a loss.
  {
    kept: [exchange("y")],
    gone: [queue("y.q"), bound("y -> y.q")],
    made: [queue("y.next"), bound("y -> y.next")],
    ...{ told: "", end: "y.q", endAfter: "y.next" },
  },
];

describe("a review of ways", () => {
  onEachBroker((broker) => {
    it("finds each message that got to a queue, and gets to none after the update", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "plain"));
      const all = [...Object.values(edits), ...controls];
      const feeders = all.map(({ end, feeder = { to: end.slice(0, 1) } }) =>
        feeding(`${end.slice(0, 1)}.feeder`, feeder.to, feeder.more),
      );
      const declare = (side: "gone" | "made"): void => {
        const resources = all.flatMap((edit) => [...edit.kept, ...(edit[side] ?? [])]);
        stack.configure({ network: { resources: [...resources, ...feeders] } });
      };
      declare("gone");
      await stack.up();
      for (const { byHand } of all)
        if (byHand !== undefined)
          await management.call("POST", `bindings/${vhost}/e/${byHand}`, { routing_key: "#", arguments: {} });
      for (const { unboundByHand } of all)
        if (unboundByHand !== undefined) await management.call("DELETE", `bindings/${vhost}/e/${unboundByHand}`);
      const channel = await openChannel(broker(), vhost);
      const passOn = async (): Promise<void> => {
        for (const [index, { name }] of feeders.entries()) {
          const { end, feeder } = all[index] as Edit;
          const [via, key] = feeder?.via === undefined ? ["", name] : [feeder.via, end];
          channel.publish(via, key, Buffer.from(name), { persistent: true });
          await channel.waitForConfirms();
          const found = await channel.get(name);
          assert.ok(found, name);
          channel.nack(found, false, false);
        }
      };
      const countIn = async (end: string): Promise<number> => (await channel.checkQueue(end)).messageCount;
      const untilIn = async (end: string): Promise<void> => {
        while ((await countIn(end)) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        await channel.purgeQueue(end);
      };
      await passOn();
      for (const { end } of all) await untilIn(end);

      declare("made");
      const { report, output } = await stack.review(
        ...["--management", management.url, "--amqp", `${node.amqpUrl}/${vhost}`],
        ...all.flatMap(({ accepted }) => (accepted === undefined ? [] : ["--accept", `${BINDINGS}${accepted}`])),
        ...["--because", "it is drained"],
      );
      assert.equal(report?.verdict, "loss", output);
      const told = report.findings.filter(
        ({ severity, queue: own, accepted }) => severity === "loss" && own === undefined && accepted === undefined,
      );
      assert.equal(report.findings.filter(({ accepted }) => accepted !== undefined).length, 1, output);
      const named = told.map(({ rule, entity }) => `${rule}: ${entity}`);
      assert.deepEqual(
        named.sort(),
        Object.values(edits)
          .map((edit) => edit.told)
          .sort(),
      );

      await stack.up();
      await passOn();
      for (const { endAfter } of controls) await untilIn(endAfter);
      const left = Object.values(edits).filter(({ gone = [] }) => !gone.some(({ type }) => type === "Queue"));
      for (const { end } of left) assert.equal(await countIn(end), 0, end);
    });
  });
});
