import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { fetch } from "undici";
import { TestBroker, onEachBroker } from "../support/brokers";
import { missingRights } from "../support/command";
import { openChannel } from "../support/connect";
import { generations, installEndpoint, sendDelayed } from "../support/nserviceBus";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";
import { wayOut } from "../support/waysOut";

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

const EVENT = "Shop:Happened";
const BASES = ["System:Object", "NServiceBus:IEvent", "NServiceBus:IMessage"];

/** Subscribes to an event as the client does when it starts, and before it publishes the event. */
async function subscribe(
  channel: ConfirmChannel,
  name: string,
  isDirect = false,
  bases: readonly string[] = BASES,
): Promise<void> {
  if (isDirect) {
    await channel.bindQueue(name, "amq.topic", "Shop-Happened.#");
    return;
  }
  await channel.assertExchange(EVENT, "fanout", { durable: true });
  for (const base of bases) {
    await channel.assertExchange(base, "fanout", { durable: true });
    await channel.bindExchange(base, EVENT, "");
  }
  await channel.bindExchange(name, EVENT, "");
}

describe("a stack of a team that runs NServiceBus without installers", () => {
  onEachBroker((broker, { isNewest }) => {
    /** `change` brings the stack up again with other arguments. */
    async function bringUp(
      endpoint: object,
    ): Promise<{ stack: TestStack; login: (name: string) => Login; change: (endpoint: object) => Promise<void> }> {
      const vhost = await broker().management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "nserviceBus"));
      const users = { Sales: `sales-${randomUUID()}`, "Europe.Sales": `europe-${randomUUID()}` };
      const brokerVersion = await broker().management.version();
      const change = async (changed: object): Promise<void> => {
        stack.configure({ network: { ...changed, users, brokerVersion } as never });
        const { code, output } = await stack.up("--refresh");
        assert.equal(code, 0, output);
      };
      await change(endpoint);
      assert.deepEqual(await stack.preview("--refresh"), []);
      return { stack, change, login: (name) => ({ user: users[name as "Sales"], password: `password of ${name}` }) };
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
      it(`${routingTopology}: its services run as their users: start, send, publish, delay to each other, and put errors away`, async () => {
        const isDirect = routingTopology === "direct";
        const types = [isDirect ? "amq.topic" : EVENT];
        const { stack, login } = await bringUp({
          routingTopology,
          messageTypes: { Sales: types, "Europe.Sales": types },
        });
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
        // A client that asks the management API as an administrator, and does all else as its user, starts on those as well.
        assert.ok((await broker().management.get<object[]>("feature-flags")).length > 0);
        if (isNewest) {
          const { definition, pattern } = await broker().management.get<{ definition: object; pattern: string }>(
            `policies/${vhost}/nsb.Sales.delivery-limit`,
          );
          assert.deepEqual([definition, pattern], [{ "delivery-limit": 100_000 }, "^Sales$"]);
        }
        // The direct topology sends by the default exchange.
        const send = (channel: ConfirmChannel, to: string, body: string): Promise<void> =>
          isDirect ? publish(channel, "", body, to) : publish(channel, to, body);
        const receivers = new Map<string, Receiver>();
        for (const name of ["Sales", "Europe.Sales"]) {
          const channel = await channelOf(broker(), login(name), vhost);
          await subscribe(channel, name, isDirect);
          receivers.set(name, await Receiver.on(channel, [name]));
        }
        for (const from of ["Sales", "Europe.Sales"]) {
          const channel = await channelOf(broker(), login(from), vhost);
          for (const to of ["Sales", "Europe.Sales"]) {
            await sendDelayed(channel, generations.v2, to, 1, `delayed from ${from} to ${to}`, routingTopology);
            await send(channel, to, `at once from ${from} to ${to}`);
          }
          await publish(channel, types[0] as string, `event from ${from}`, isDirect ? "Shop-Happened" : "");
          await send(channel, "error", `error of ${from}`);
        }
        for (const [name, receiver] of receivers) {
          const wanted = [`at once from FROM to ${name}`, `delayed from FROM to ${name}`, "event from FROM"].flatMap(
            (text) => ["Europe.Sales", "Sales"].map((from) => text.replace("FROM", from)),
          );
          const bodies = (await receiver.until(wanted.length)).map(({ message }) => message.content.toString());
          assert.deepEqual(bodies.sort(), wanted);
        }
        await stack.destroy();
      });
    }

    it("has no right that its client does not need: without each of them, something fails", async () => {
      const { stack, login } = await bringUp({ messageTypes: { Sales: [EVENT] } });
      const { vhost } = stack;
      const { management } = broker();
      const sales = login("Sales");
      const path = `permissions/${vhost}/${sales.user}`;
      const rights = await management.get<{ configure: string; write: string; read: string }>(path);
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
        await subscribe(channel, "Sales");
        await Promise.race([publish(channel, EVENT, "x"), refused]);
        await channel.close();
      };
      await work();
      for (const key of ["#", "#.Europe.#", "#.Billing"]) {
        const channel = await channelOf(broker(), sales, vhost);
        await assert.rejects(channel.bindExchange("Sales", "nsb.v2.delay-delivery", key), /ACCESS_REFUSED/, key);
      }
      // A login without message types may not even declare what is there by now.
      for (const name of [EVENT, ...BASES]) {
        const channel = await channelOf(broker(), login("Europe.Sales"), vhost);
        await assert.rejects(channel.assertExchange(name, "fanout"), /403.*ACCESS_REFUSED/, name);
      }
      for (const base of BASES) {
        const channel = await channelOf(broker(), sales, vhost);
        await assert.rejects(channel.bindExchange("Sales", base, ""), /403.*ACCESS_REFUSED/, base);
      }
      for (const kind of ["configure", "write", "read"] as const) {
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

    it("check names the bases of an event that a login may not declare, and the stack grants them as it says", async () => {
      const bases = [...BASES, "Shop:IShopEvent"];
      const types = [EVENT, "Shop:IShopEvent"];
      const { stack, login, change } = await bringUp({ messageTypes: { Sales: types, "Europe.Sales": [EVENT] } });
      const { management } = broker();
      const { vhost } = stack;
      const start = async (name: string): Promise<void> => {
        const channel = await channelOf(broker(), login(name), vhost);
        await subscribe(channel, name, false, bases);
        await channel.close();
      };
      const isSilent = async (): Promise<void> => assert.deepEqual(await missingRights(management.url, vhost), []);
      await isSilent();
      await start("Sales");
      await assert.rejects(start("Europe.Sales"), /403.*ACCESS_REFUSED.*Shop:IShopEvent/);
      const { user } = login("Europe.Sales");
      const [unnamed = "", ...more] = await missingRights(management.url, vhost);
      assert.deepEqual(more, []);
      assert.ok(unnamed.startsWith(`login ${user}: may not declare exchange Shop:IShopEvent, `), unnamed);
      assert.match(unnamed, wayOut("check-name-type"));
      assert.match(unnamed, /; name Shop:IShopEvent in messageTypes/);
      const named = { messageTypes: { Sales: types, "Europe.Sales": types } };
      await change(named);
      await isSilent();
      await start("Europe.Sales");

      const path = `permissions/${vhost}/${user}`;
      const rights = await management.get<object>(path);
      await management.call("PUT", path, { ...rights, configure: `^(?:${types.join("|")})$` });
      await assert.rejects(start("Europe.Sales"), /403.*ACCESS_REFUSED.*System:Object/);
      const [own = "", ...others] = await missingRights(management.url, vhost);
      assert.deepEqual(others, []);
      assert.ok(
        own.includes(
          `login ${user}: may not declare ${[...BASES]
            .sort()
            .map((base) => `exchange ${base}`)
            .join(" and ")}, `,
        ),
        own,
      );
      assert.match(own, wayOut("check-declare-user"));
      await change(named);
      await isSilent();
      await start("Europe.Sales");

      // Permissions are told to administrators alone.
      await management.call("PUT", path, { ...rights, configure: `^(?:${types.join("|")})$`, read: ".*", write: ".*" });
      const { password } = login("Europe.Sales");
      await management.call("PUT", `users/${user}`, { password, tags: "monitoring" });
      const { host } = new URL(management.url);
      assert.deepEqual(await missingRights(`http://${user}:${encodeURIComponent(password)}@${host}`, vhost), []);
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
