import { strict as assert } from "node:assert";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";
import { wayOut } from "../support/waysOut";

interface Part {
  type: string;
  name: string;
  args: Record<string, unknown>;
  formerNames?: string[];
  isElsewhere?: boolean;
  isGrouped?: boolean;
  wasAlone?: boolean;
}

const shape = (prefix: string): Record<string, unknown> => ({
  preset: "custom",
  prefix,
  radix: 2,
  levels: 2,
  unitMs: 10,
});
const network = (prefix: string): Part => ({ type: "DelayLevelTopology", name: prefix, args: shape(prefix) });
const networks = [network("a"), network("b")];
const sales = (args: object): Part => ({
  type: "EndpointDelayBinding",
  name: "sales",
  args: { endpoint: "Sales", createQueue: true, ...args },
});
const second = (args: object): Part => ({ type: "EndpointDelayBinding", name: "second", args: { ...args } });
const work = (name: string, patterns: string[], formerNames: string[] = []): Part => ({
  type: "WorkRetryQueues",
  name,
  args: { queue: "work", delays: [60_000], patterns },
  formerNames,
});

/** Edits by which the same binding or claim would get another URN, each with what the refusal says. */
const refusals: Record<string, { before: Part[]; after: Part[]; message: RegExp }> = {
  "a network that goes from network to furtherNetworks": {
    before: [...networks, sales({ network: "$a" })],
    after: [...networks, sales({ network: "$b", furtherNetworks: ["$a"] })],
    message: /binding of Sales@a\S+ is in this stack's state as sales-Sales, .*declares it as sales-Sales@a/,
  },
  "a network that goes from furtherNetworks to network": {
    before: [...networks, sales({ network: "$a", furtherNetworks: ["$b"] })],
    after: [...networks, sales({ network: "$b" })],
    message:
      /binding of Sales is in this stack's state as sales-Sales@b\S+, .*state rename '\S+::sales-Sales@b\S+' 'sales-Sales'/,
  },
  "a pattern that goes from one component to another": {
    before: [...networks, sales({ network: "$a", patterns: ["Sales", "X"] })],
    after: [...networks, sales({ network: "$a" }), second({ network: "$a", endpoint: "X", destination: "Sales" })],
    message: /(binding of X|claim \S+endpoint\.X) is in this stack's state as sales-/,
  },
  "an endpoint that comes under another component": {
    before: [...networks, sales({ network: "$a" })],
    after: [...networks, { ...sales({ network: "$a" }), isGrouped: true }],
    message: /(binding of|claim|queue) \S+ is in this stack's state as sales-\S+ under another parent/,
  },
  "a network that comes under another component": {
    before: [network("a")],
    after: [{ ...network("a"), isGrouped: true }],
    message: /(binding of|exchange|queue) \S+ is in this stack's state as a-\S+ under another parent/,
  },
  "a component under a new name, without an alias": {
    before: [work("old", ["#"])],
    after: [work("new", ["#"])],
    message:
      /(?:binding of|queue|exchange) (work\S*) is in this stack's state as old-\1, and this program declares it as new-\1/,
  },
};

describe("what would pass from one resource to another", () => {
  onEachBroker((broker) => {
    let vhost: string;
    let stack: TestStack;

    beforeEach(async () => {
      vhost = await broker().management.createVhost();
      stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "edits"));
    });

    const declare = (parts: Part[]): void => stack.configure({ network: { parts } });

    /** An update refuses it before anything is made, and a preview warns, so that a review can judge the whole plan. */
    async function refused(message: RegExp): Promise<void> {
      const runs: [string[], (code: number | null) => boolean][] = [
        [["preview", "--stack", "test"], (code) => code === 0],
        [["up", "--yes", "--skip-preview", "--stack", "test"], (code) => code !== 0],
      ];
      for (const [args, isRight] of runs) {
        const { code, output } = await stack.run(args);
        assert.ok(isRight(code), output);
        assert.match(output.replaceAll(/\s+/g, " "), message);
      }
    }

    const boundKeys = async (): Promise<string[]> =>
      (
        await broker().management.get<{ source: string; destination: string; routing_key: string }[]>(
          `bindings/${vhost}`,
        )
      )
        .filter(({ source }) => source !== "")
        .map(({ source, destination, routing_key: key }) => `${source} ${destination} ${key}`)
        .sort();

    // The engine made the binding once more and deleted it under its old URN: nothing was bound, and previews were empty.
    for (const [name, { before, after, message }] of Object.entries(refusals)) {
      it(`is refused, and stays as it is: ${name}`, async () => {
        declare(before);
        await stack.up();
        const bound = await boundKeys();
        declare(after);
        await refused(message);
        const left = await boundKeys();
        for (const one of bound) assert.ok(left.includes(one), one);
      });
    }

    it("is refused where a program declares it twice", async () => {
      const plain = delayNetwork({ ...shape("a"), vhost } as never);
      declare([...networks, sales({ network: "$a", furtherNetworks: [plain] })]);
      const twice = /binding of Sales\S* is declared twice by this program, as sales-Sales\S* and sales-Sales.*/;
      await refused(new RegExp(twice.source + wayOut("preflight-declare-once").source));
      declare([...networks, sales({ network: "$a" })]);
      await stack.up();
      assert.deepEqual(
        (await boundKeys()).filter((one) => one.includes(" Sales ")),
        ["a.r2x2u10.delivery Sales *.*.Sales"],
      );
    });

    it("goes where the program leaves it out: an endpoint leaves the first of its networks, or the second", async () => {
      declare([...networks, sales({ network: "$a", furtherNetworks: ["$b"] })]);
      await stack.up();
      declare([...networks, sales({ furtherNetworks: ["$b"] })]);
      await stack.up();
      assert.deepEqual(
        (await boundKeys()).filter((one) => one.includes(" Sales ")),
        ["b.r2x2u10.delivery Sales *.*.Sales"],
      );
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    // Twenty messages waited, all twenty were parked, and nobody said so.
    it("is said of an endpoint whose network gets another shape while messages wait there, and they arrive if it joins both", async () => {
      const old: Part = {
        type: "DelayLevelTopology",
        name: "a",
        args: { ...shape("a"), levels: 12, removal: "retain" },
      };
      const other = { ...old, args: { ...old.args, radix: 4, levels: 6 } };
      const kept = { removal: "retain" };
      declare([old, sales({ network: "$a", ...kept })]);
      await stack.up();
      const channel = await openChannel(broker(), vhost);
      const former = delayNetwork({ ...shape("a"), levels: 12 } as never);
      const publisher = createDelayPublisher(channel, former);
      const receiver = await Receiver.on(channel, ["Sales"]);
      await publisher.publish("Sales", "waits", { delayMs: 15_000 });
      // The broker counts every five seconds.
      while (
        !(await broker().management.queues(vhost)).some(
          ({ name, messages }) => name.includes(".level-") && messages === 1,
        )
      )
        await new Promise((resolve) => setTimeout(resolve, 100));
      declare([other, sales({ network: "$a", ...kept })]);
      const warned = await stack.run(["preview", "--stack", "test"]);
      assert.match(
        warned.output.replaceAll(/\s+/g, " "),
        /endpoint Sales leaves network a\.r2x12u10, in which 1 message waits: those for Sales are parked when they are due\./,
      );
      declare([old, { ...other, name: "new" }, sales({ network: "$a", furtherNetworks: ["$new"], ...kept })]);
      const joined = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.deepEqual([joined.code, joined.output.includes("leaves network")], [0, false], joined.output);
      await receiver.until(1);
      while ((await broker().management.queues(vhost)).some(({ messages }) => messages !== 0))
        await new Promise((resolve) => setTimeout(resolve, 100));
      declare([{ ...other, name: "new" }, sales({ furtherNetworks: ["$new"], ...kept })]);
      const left = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.deepEqual([left.code, left.output.includes("leaves network")], [0, false], left.output);
    });

    it("is said of the endpoints of a stack's config as well", async () => {
      const other = await TestStack.inNewVhost(broker());
      const common: StackConfig = { removal: "retain", endpoints: [{ name: "Sales", createQueue: true }] };
      const former = { ...shape("a"), levels: 12 };
      await other.bringUp({ ...common, network: former });
      const channel = await openChannel(broker(), other.vhost);
      const publisher = createDelayPublisher(channel, delayNetwork(former as never));
      await publisher.publish("Sales", "waits", { delayMs: 40_000 });
      const isCounted = async (): Promise<boolean> =>
        (await broker().management.queues(other.vhost)).some(
          ({ name, messages }) => name.includes(".level-") && messages === 1,
        );
      while (!(await isCounted())) await new Promise((resolve) => setTimeout(resolve, 100));
      other.configure({ ...common, network: { ...former, radix: 4, levels: 6 } });
      const { output } = await other.run(["preview", "--stack", "test"]);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        /endpoint Sales leaves network a\.r2x12u10, in which 1 message waits: those for Sales are parked when they are due\./,
      );
    });

    it("follows a component that comes under another one, by an alias", async () => {
      const parts = [network("a"), sales({ network: "$a" })];
      declare(parts);
      await stack.up();
      const bound = await boundKeys();
      declare(parts.map((part) => ({ ...part, isGrouped: true, wasAlone: true })));
      await stack.up();
      assert.deepEqual(await boundKeys(), bound);
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("may be there once on each of two brokers", async () => {
      const elsewhere = { ...work("elsewhere", ["#", "a.*"]), isElsewhere: true };
      declare([work("here", ["#", "a.*"])]);
      await stack.up();
      declare([elsewhere, work("here", ["#", "a.*"])]);
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("follows its component's new name along with an edit of its patterns", async () => {
      const steps = [
        [work("one", ["#"])],
        [work("two", ["#", "a.*"], ["one"])],
        [work("three", ["#"], ["two", "one"])],
        [work("four", ["a.*", "b.*"], ["three", "two", "one"])],
      ];
      for (const [index, parts] of steps.entries()) {
        declare(parts);
        const patterns = parts[0]?.args.patterns as string[];
        if (index === 3) await stack.preview();
        await stack.up();
        const keys = (await boundKeys()).filter((one) => one.startsWith("work work "));
        for (const pattern of patterns)
          assert.ok(keys.includes(`work work ${pattern}`), `${index}: ${keys.join(", ")}`);
        assert.deepEqual(await stack.preview("--refresh"), []);
      }
    });
  });
});
