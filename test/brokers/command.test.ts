import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { delayNetwork, delayedStore, planDelayedStore, planEntities } from "@rabbitmq-delay/topology";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Receiver } from "../support/receive";
import { temporaryFolder } from "../support/temporaryFolder";
import { command, runCommand } from "../support/command";

const descriptor = { preset: "custom", prefix: "own", radix: 4, levels: 4, unitMs: 10, parking: false } as const;

interface CommandEnd {
  code: number | null;
  out: string;
  err: string;
}

/** Not synchronously: the test's own connections must live on. */
async function run(args: string[], input = ""): Promise<CommandEnd> {
  const child = spawn(process.execPath, [command, ...args]);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.end(input);
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}

describe("rabbitmq-delay, against a broker", () => {
  onEachBroker((broker) => {
    // It waited for the broker's goodbye for ever, so that a script stood still without a word.
    it("ends with 3 while the broker has an alarm: publishing, and asking a store", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const vhost = await own.management.createVhost();
      const network = delayNetwork({ ...descriptor, vhost });
      await own.management.declare(vhost, network, ["Billing"]);
      const url = `${own.node.amqpUrl}/${vhost}`;
      await declareOverAmqp(await openChannel(own, vhost), planDelayedStore(delayedStore({})));
      await rabbitmqctl(own.node, "set_vm_memory_high_watermark", "0");
      const descriptorText = JSON.stringify(network);
      // Larger than what the broker reads before it blocks the connection.
      const body = join(temporaryFolder(), "body");
      writeFileSync(body, Buffer.alloc(8_000_000));
      const args = ["--network", "-", "--destination", "Billing", "--delay", "1s", "--body-file", body, "--amqp", url];
      const sent = await run(["publish", ...args], descriptorText);
      assert.equal(sent.code, 3, sent.out + sent.err);
      assert.match(sent.err, /^[^\n]*--amqp: /);
      const asked = await run(["store", "stats", "--amqp", url]);
      assert.equal(asked.code, 3, asked.out + asked.err);
    });

    it("publishes: 0 when it was confirmed, 1 when it was returned, 3 when there is no broker or no network", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const network = delayNetwork({ ...descriptor, vhost });
      await management.declare(vhost, network, ["Billing"]);
      const receiver = await Receiver.on(await openChannel(broker(), vhost), ["Billing"]);
      const publish = (...more: string[]): Promise<CommandEnd> =>
        run(["publish", "--network", "-", "--destination", "Billing", ...more], JSON.stringify(network));
      const url = `${node.amqpUrl}/${vhost}`;

      const sent = await publish("--amqp", url, "--delay", "300ms", "--body", "hello", "--header", "a=b", "--json");
      assert.deepEqual([sent.code, sent.err], [0, ""]);
      const { dueAt, delayMs } = JSON.parse(sent.out) as { dueAt: string; delayMs: number };
      assert.equal(delayMs, 300);
      const [arrival] = await receiver.until(1);
      assert.ok((arrival?.atMs ?? 0) >= new Date(dueAt).getTime());
      assert.equal(arrival?.message.content.toString(), "hello");
      assert.equal(arrival?.message.properties.headers?.a, "b");

      const level = network.entryExchanges.at(-1);
      await management.call("DELETE", `bindings/${vhost}/e/${level}/q/${level}-1/1.%23`);
      const returned = await publish("--amqp", url, "--delay", "640ms");
      assert.equal(returned.code, 1, returned.err);
      assert.match(returned.err, /--amqp: .*return/);

      const nowhere = await publish("--amqp", `amqp://127.0.0.1:1/${vhost}`, "--delay", "1s");
      assert.equal(nowhere.code, 3);
      assert.match(nowhere.err, /--amqp: no broker at 127\.0\.0\.1:1 \(.*make up/);
      const elsewhere = await publish("--amqp", `${node.amqpUrl}/${await management.createVhost()}`, "--delay", "1s");
      assert.deepEqual(
        [elsewhere.code, elsewhere.err.includes(`is declared in vhost ${vhost}`)],
        [2, true],
        elsewhere.err,
      );
      const bare = await management.createVhost();
      const nothing = [
        "--network",
        "-",
        "--destination",
        "Billing",
        "--delay",
        "1s",
        "--amqp",
        `${node.amqpUrl}/${bare}`,
      ];
      const empty = await run(["publish", ...nothing], JSON.stringify(delayNetwork({ ...descriptor, vhost: bare })));
      assert.equal(empty.code, 3);
      assert.match(empty.err, /pulumi up declares it/);
    });

    // A wrong password was "no broker; make up starts a local one", a wrong vhost the library's inner words.
    it("says whether a broker refuses the user or the vhost, and shows no password", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const publish = (url: string, place?: string): Promise<CommandEnd> =>
        run(
          ["publish", "--network", "-", "--destination", "Billing", "--delay", "1s", "--amqp", url],
          JSON.stringify(delayNetwork({ ...descriptor, vhost: place })),
        );
      const password = await publish(`${node.amqpUrl.replace("guest:guest", "guest:Wr0ng")}/${vhost}`, vhost);
      assert.deepEqual([password.code, /Wr0ng|make up/.test(password.err)], [3, false], password.err);
      assert.match(password.err, /--amqp: the broker at 127\.0\.0\.1:\d+ refuses the user or the password/);
      const nowhere = await publish(`${node.amqpUrl}/no%2Fwhere`, "no/where");
      assert.equal(nowhere.code, 3);
      assert.match(nowhere.err, /refuses vhost no\/where: there is none of that name, or the user may not use it/);
      const other = await publish(management.url.replace("http:", "amqp:"));
      assert.equal(other.code, 3);
      assert.match(other.err, /does not answer as a broker does/);
    });

    // `enforce` said that the vhost can't be read, and nothing about the address.
    it("says of an address that ends with /api that it ends before, whatever the verb", async () => {
      const file = join(temporaryFolder(), "preview.json");
      const oldState = { type: "rabbitmq:index/queue:Queue", outputs: { name: "work", vhost: "/", settings: {} } };
      const urn = "urn:pulumi:prod::shop::rabbitmq:index/queue:Queue::work";
      writeFileSync(file, JSON.stringify({ steps: [{ op: "delete", urn, oldState }] }));
      const enforce = ["enforce", "--preset", "nservicebus"];
      for (const verb of [["check"], ["adopt"], enforce, [...enforce, "--dry-run"], ["review", file]]) {
        const { code, err } = await runCommand([...verb, "--management", `${broker().management.url}/api/`]);
        assert.equal(code, 3, `${verb.join(" ")}: ${err}`);
        assert.match(err, /^[^\n]*; the address ends before \/api[^\n]*\n$/);
      }
      const elsewhere = await runCommand([...enforce, "--management", broker().management.url, "--vhost", "nowhere"]);
      assert.match(
        elsewhere.err,
        /there is no vhost nowhere at http:\/\/127\.0\.0\.1:\d+, or the user may not use it \(HTTP 404\); look at its name/,
      );
    });

    it("renders definitions that a broker imports as they are", async () => {
      const { management } = broker();
      for (const preset of ["celery", "nservicebus", "nservicebus-v1"] as const) {
        const vhost = await management.createVhost();
        const flags = ["--preset", preset, "--format", "definitions", "--vhost", vhost, "--endpoint", "tasks"];
        const { out } = await run(["render", ...flags]);
        await management.call("POST", "definitions", JSON.parse(out));
        const network = delayNetwork({ preset });
        const names = (await management.queues(vhost)).map(({ name }) => name).sort();
        assert.deepEqual(names, [...planEntities(network).queues.map(({ name }) => name), "tasks"].sort());
      }
    });
  });
});
