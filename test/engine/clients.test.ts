import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { fetch } from "undici";
import { TestBroker, onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { generations, installEndpoint, sendDelayed } from "../support/nserviceBus";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";

/** A login of a stack's user. */
interface Login {
  user: string;
  password: string;
}

/** A channel of a login; a refusal closes it, so each attempt has its own. */
function channelOf({ node, ...broker }: TestBroker, { user, password }: Login, vhost: string): Promise<ConfirmChannel> {
  const { host } = new URL(node.amqpUrl);
  const amqpUrl = `amqp://${user}:${encodeURIComponent(password)}@${host}`;
  return openChannel({ ...broker, node: { ...node, amqpUrl } }, vhost, { isExpectedToBreak: true });
}

/** Publishes at once and waits for the confirm. */
function publish(channel: ConfirmChannel, exchange: string, body: string, key = ""): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.publish(exchange, key, Buffer.from(body), { mandatory: true, persistent: true }, (error: unknown) =>
      error instanceof Error ? reject(error) : resolve(),
    ),
  );
}

describe("a stack of a team that runs NServiceBus without installers", () => {
  onEachBroker((broker, { isNewest }) => {
    async function bringUp(endpoint: object): Promise<{ stack: TestStack; login: (name: string) => Login }> {
      const vhost = await broker().management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "nserviceBus"));
      const users = { Sales: `sales-${randomUUID()}`, "Europe.Sales": `europe-${randomUUID()}` };
      const brokerVersion = await broker().management.version();
      stack.configure({ network: { ...endpoint, users, brokerVersion } as never });
      const { code, output } = await stack.up();
      assert.equal(code, 0, output);
      assert.deepEqual(await stack.preview("--refresh"), []);
      return { stack, login: (name) => ({ user: users[name as "Sales"], password: `password of ${name}` }) };
    }

    it("an endpoint's queue gets its failed messages back from interval queues, behind its exchange", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const sales = { name: "Sales", client: "nservicebus", retries: true };
      stack.configure({
        network: { preset: "nservicebus" },
        retryIntervals: { intervals: ["5s"] },
        endpoints: [sales],
      });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const bindings = await broker().management.get<Record<string, string>[]>(`bindings/${stack.vhost}`);
      const returned = bindings.filter(
        ({ source, destination }) => /return/.test(String(source)) && destination === "Sales",
      );
      assert.deepEqual(
        returned.map(({ destination_type: type, routing_key: key }) => [type, key]),
        [["queue", "Sales"]],
      );
    });

    for (const routingTopology of ["conventional", "direct"] as const) {
      it(`${routingTopology}: its services run as their users: start, send, delay to each other, and put errors away`, async () => {
        const { stack, login } = await bringUp({ routingTopology });
        const { vhost } = stack;
        for (const name of ["Sales", "Europe.Sales"]) {
          const { user, password } = login(name);
          const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
          for (const path of ["overview", "feature-flags", `queues/${vhost}/${name}`]) {
            const { status } = await fetch(`${broker().management.url}/api/${path}`, { headers: { authorization } });
            // Brokers of that age show their feature flags to administrators alone.
            const isShown = path !== "feature-flags" || isNewest;
            assert.equal(status, isShown ? 200 : 401, `${path} as ${name}`);
          }
        }
        if (isNewest) {
          const { definition, pattern } = await broker().management.get<{ definition: object; pattern: string }>(
            `policies/${vhost}/nsb.Sales.delivery-limit`,
          );
          assert.deepEqual([definition, pattern], [{ "delivery-limit": 100_000 }, "^Sales$"]);
        }
        // The direct topology sends by the default exchange.
        const send = (channel: ConfirmChannel, to: string, body: string): Promise<void> =>
          routingTopology === "conventional" ? publish(channel, to, body) : publish(channel, "", body, to);
        const receivers = new Map<string, Receiver>();
        for (const name of ["Sales", "Europe.Sales"]) {
          receivers.set(name, await Receiver.on(await channelOf(broker(), login(name), vhost), [name]));
        }
        for (const from of ["Sales", "Europe.Sales"]) {
          const channel = await channelOf(broker(), login(from), vhost);
          for (const to of ["Sales", "Europe.Sales"]) {
            await sendDelayed(channel, generations.v2, to, 1, `delayed from ${from} to ${to}`, routingTopology);
            await send(channel, to, `at once from ${from} to ${to}`);
          }
          await send(channel, "error", `error of ${from}`);
        }
        for (const [name, receiver] of receivers) {
          const wanted = ["at once", "delayed"].flatMap((kind) =>
            ["Europe.Sales", "Sales"].map((from) => `${kind} from ${from} to ${name}`),
          );
          const bodies = (await receiver.until(wanted.length)).map(({ message }) => message.content.toString());
          assert.deepEqual(bodies.sort(), wanted);
        }
        await stack.destroy();
      });
    }

    it("has no right that its client does not need: without each of them, something fails", async () => {
      const { stack, login } = await bringUp({});
      const { vhost } = stack;
      const { management } = broker();
      const sales = login("Sales");
      const path = `permissions/${vhost}/${sales.user}`;
      const rights = await management.get<{ configure: string; write: string; read: string }>(path);
      assert.equal(rights.configure, "^$");
      const { tags } = await management.get<{ tags: string[] | string }>(`users/${sales.user}`);
      assert.deepEqual([tags].flat(), ["management"]);
      const names = (right: string): string[] => right.slice("^(?:".length, -")$".length).split("|");
      const work = async (): Promise<void> => {
        const channel = await channelOf(broker(), sales, vhost);
        // The broker's refusal of a publish closes the channel, and no confirm comes.
        const refused = new Promise<never>((_, reject) => channel.once("error", reject));
        refused.catch(() => undefined);
        const { consumerTag } = await channel.consume("Sales", () => undefined);
        await channel.cancel(consumerTag);
        for (const destination of ["Sales", "Europe.Sales"]) {
          // One for each level's exchange.
          for (let level = 0; level < 28; level++) {
            await Promise.race([sendDelayed(channel, generations.v2, destination, 2 ** level, "x"), refused]);
          }
          await Promise.race([publish(channel, destination, "x"), refused]);
        }
        await Promise.race([publish(channel, "error", "x"), refused]);
        await channel.close();
      };
      await work();
      for (const key of ["#", "#.Europe.#", "#.Billing"]) {
        const channel = await channelOf(broker(), sales, vhost);
        await assert.rejects(channel.bindExchange("Sales", "nsb.v2.delay-delivery", key), /ACCESS_REFUSED/, key);
      }
      for (const kind of ["write", "read"] as const) {
        for (const name of names(rights[kind])) {
          const others = names(rights[kind]).filter((other) => other !== name);
          await management.call("PUT", path, { ...rights, [kind]: `^(?:${others.join("|")})$` });
          // Existing channels may remember what was allowed.
          await assert.rejects(work(), /ACCESS_REFUSED|Channel closed/, `without ${kind} ${name}`);
        }
        await management.call("PUT", path, rights);
      }
      await work();
      await stack.destroy();
    });

    it("declares what NServiceBus's installers declare, byte for byte", async () => {
      for (const queueType of ["quorum", "classic"] as const) {
        const { stack } = await bringUp({ queueType });
        const channel = await openChannel(broker(), stack.vhost);
        for (const name of ["Sales", "Europe.Sales"]) {
          await installEndpoint(channel, generations.v2, name, queueType === "quorum");
        }
        await installEndpoint(channel, generations.v2, "error");
        await stack.destroy();
      }
    });
  });
});
