import { strict as assert } from "node:assert";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { Server, createServer } from "node:net";
import { join } from "node:path";
import type { BrokerNode } from "../../toolchain/dist/broker";
import { isFree } from "../../toolchain/dist/ports";
import { processesWith } from "../../toolchain/dist/processes";
import { Checkout } from "../support/checkout";
import { afterThisTest } from "../support/cleanup";
import { skipUnless } from "../support/missingPrograms";

/** Starts the checkout's broker, restarts it, and restarts it once more while another has its port; prints its ports each time. */
const RESTARTS = `
  const { findBroker, stopBroker } = require("./toolchain/dist/localBroker");
  const { readFileSync } = require("node:fs");
  const { createServer } = require("node:net");
  const found = async () => {
    await findBroker(() => undefined);
    return JSON.parse(readFileSync(".local/broker.json", "utf8")).node.ports;
  };
  (async () => {
    const before = await found();
    await stopBroker();
    const again = await found();
    await stopBroker();
    await new Promise((resolve) => createServer().listen(again.amqp, "127.0.0.1", resolve));
    console.log(JSON.stringify([before, again, await found()]));
    process.exit();
  })();`;

describe("make up", function () {
  before(function () {
    skipUnless(existsSync("/usr/sbin/rabbitmq-server"), this, "no RabbitMQ is installed on this machine");
  });

  // The five lines stood under some 240 others; whoever ran it in a CI never saw them. After make clean, make up in a shell with .local/env
  // looked for the broker that was just removed.
  it("starts a broker in a shell with an earlier one's address; ends with what to do next where there is no terminal", async () => {
    const gone = "amqp://guest:guest@127.0.0.1:1";
    const checkout = new Checkout();
    const shell = {
      RABBITMQ_URL: gone,
      RABBITMQ_MANAGEMENT_URL: "http://127.0.0.1:1",
      RABBITMQ_DELAY_OWN_BROKER: gone,
    };
    const { code, out, err } = await checkout.run(["up"], shell);
    assert.equal(code, 0, err);
    const lines = out.trim().split("\n");
    assert.equal(lines[0], "Bringing up stack dev; progress is written to .local/up.log.");
    assert.ok(lines.length <= 14, out);
    assert.match(lines.at(-1) as string, /^Stop the broker: +make down$/);
    const log = readFileSync(join(checkout.folder, ".local", "up.log"), "utf8");
    assert.match(log, /152 created/);
    assert.ok(log.split("\n").length > 100, "the log has it all");
    const written = readFileSync(join(checkout.folder, ".local", "env"), "utf8");
    const url = /RABBITMQ_URL='([^']+)'/.exec(written)?.[1];
    assert.notEqual(url, gone);
    assert.ok(written.includes(`RABBITMQ_DELAY_OWN_BROKER='${url}'`), written);
  });

  it("shows the end of its log when it fails", async () => {
    const checkout = new Checkout();
    const nobody = { RABBITMQ_URL: "amqp://guest:guest@127.0.0.1:1", RABBITMQ_MANAGEMENT_URL: "http://127.0.0.1:1" };
    const { code, out, err } = await checkout.run(["up"], nobody);
    assert.equal(code, 1);
    assert.equal(out.trim().split("\n").length, 1, out);
    assert.match(err, /^pulumi up ended with \d+\nThe end of \.local\/up\.log:\n/);
    assert.match(err, /Diagnostics:[^]*no broker[^]*http:\/\/127\.0\.0\.1:1/);
  });

  // Addresses that people noted, in a shell with .local/env or in a service's settings, led nowhere after each restart.
  it("keeps the broker's ports, also where 5672 is another's, but for one that was taken meanwhile", async () => {
    await takePort(5672);
    const [before, again, after] = await restarts(new Checkout());
    assert.notEqual(before.amqp, 5672);
    assert.deepEqual(again, before);
    assert.notEqual(after.amqp, before.amqp);
    assert.deepEqual({ ...after, amqp: 0 }, { ...before, amqp: 0 });
  });

  async function takePort(port: number): Promise<void> {
    if (!(await isFree(port))) return;
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    afterThisTest(() => void server.close());
  }

  type Ports = BrokerNode["ports"];
  async function restarts(checkout: Checkout): Promise<[Ports, Ports, Ports]> {
    const { code, out, err } = await checkout.node(["-e", RESTARTS]);
    assert.equal(code, 0, err);
    return JSON.parse(out) as [Ports, Ports, Ports];
  }
});

// What outlived an interrupted run held ports, a stack's lock and a broker's data, and nobody knew of it.
describe("an interrupted command of the toolchain", function () {
  before(function () {
    const isThere = process.platform === "linux" && existsSync("/usr/sbin/rabbitmq-server");
    skipUnless(isThere, this, "it needs Linux and an installed RabbitMQ");
  });

  const ways = [
    { signal: "SIGINT", isGroup: true, code: 130 },
    { signal: "SIGTERM", isGroup: false, code: 143 },
    { signal: "SIGHUP", isGroup: true, code: 129 },
  ] as const;

  it("leaves no engine and no plugin in the middle of make up: Ctrl-C, SIGTERM, a closed terminal", async () => {
    const checkout = new Checkout();
    const log = join(checkout.folder, ".local", "up.log");
    for (const { signal, isGroup, code } of ways) {
      rmSync(log, { force: true });
      const end = await checkout.run(["up"], {}, ({ pid }) => {
        whenWritten(log, /creat/, () => process.kill(isGroup ? -(pid as number) : (pid as number), signal));
      });
      const left = commandsOf(checkout).filter((command) => /pulumi/.test(command));
      assert.deepEqual(left, [], signal);
      assert.equal(end.code, code, end.err);
      assert.match(end.err, new RegExp(`Interrupted by ${signal}; run it again`));
    }
    const again = await checkout.run(["up"]);
    assert.equal(again.code, 0, again.err);
  });

  it("leaves no broker that nobody knows of, when it is interrupted while the broker starts", async () => {
    const checkout = new Checkout();
    const note = join(checkout.folder, ".local", "broker", "rabbitmq.conf");
    const end = await checkout.node(["-e", START], {}, ({ pid }) => {
      whenWritten(note, /listeners/, () => process.kill(pid as number, "SIGTERM"));
    });
    assert.equal(end.code, 143, end.err);
    assert.deepEqual(commandsOf(checkout), []);
  });

  it("finds a broker again whose starter was killed outright", async () => {
    const checkout = new Checkout();
    const note = join(checkout.folder, ".local", "broker.json");
    const end = await checkout.node(["-e", START], {}, ({ pid }) => {
      whenWritten(note, /processId/, () => process.kill(pid as number, "SIGKILL"));
    });
    assert.equal(end.signal, "SIGKILL");
    const { out, err } = await checkout.run(["down"]);
    assert.match(out, /The broker is stopped/, err);
    assert.deepEqual(commandsOf(checkout), []);
  });

  it("ends what it waits for, and removes what is half made", async () => {
    const checkout = new Checkout();
    const cache = join(checkout.folder, "cache");
    const started = join(checkout.folder, "started");
    const end = await checkout.node(["-e", FILL, "--", started], { XDG_CACHE_HOME: cache }, ({ pid }) => {
      whenWritten(started, /x/, () => process.kill(pid as number, "SIGINT"));
    });
    assert.equal(end.code, 130, end.err);
    assert.deepEqual(commandsOf(checkout), []);
    for (const left of ["thing", "thing.partial", "thing.lock"])
      assert.ok(!existsSync(join(cache, "rabbitmq-delay", left)), left);
    assert.ok(!existsSync(`${started}.next`), "the next way is not tried");
  });

  function whenWritten(file: string, pattern: RegExp, then: () => void): void {
    const timer = setInterval(() => {
      if (!existsSync(file) || !pattern.test(readFileSync(file, "utf8"))) return;
      clearInterval(timer);
      then();
    }, 5);
    afterThisTest(() => clearInterval(timer));
  }

  /** What a checkout's commands started and still runs. */
  function commandsOf(checkout: Checkout): string[] {
    return processesWith(...checkout.mark).flatMap((id) => {
      try {
        return [readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    });
  }
});

const START = `
  const { findBroker } = require("./toolchain/dist/localBroker");
  const { guard } = require("./toolchain/dist/interruption");
  guard(async () => void (await findBroker(() => undefined)));`;

const FILL = `
  const { getCached } = require("./toolchain/dist/cache");
  const { guard } = require("./toolchain/dist/interruption");
  const { run } = require("./toolchain/dist/run");
  const { writeFileSync } = require("node:fs");
  const started = process.argv[1];
  // A child of a child, as a compiler of a build.
  const slow = { name: "slow", fill: async (folder) => {
    const script = "echo half > half; echo x > " + started + "; sh -c 'sleep 600 & wait'";
    await run("sh", ["-c", script], { cwd: folder });
  } };
  const next = { name: "next", fill: async () => writeFileSync(started + ".next", "") };
  guard(async () => void (await getCached("thing", [slow, next], () => undefined)));`;
