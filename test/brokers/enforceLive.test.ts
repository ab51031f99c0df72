import { strict as assert } from "node:assert";
import { ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { ConfirmChannel } from "amqplib";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { TestBroker, onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { differencesOf } from "../support/differences";
import { rounds } from "../support/length";
import { managementProxy } from "../support/managementProxy";
import {
  declareAsNServiceBus,
  generations,
  installEndpoint,
  publishDelayed,
  sendDelayed,
} from "../support/nserviceBus";
import { Arrival, Receiver } from "../support/receive";
import { command } from "../support/command";

const endpoints = ["Sales", "Billing", "Europe.Shipping"];
/** An endpoint that its senders bind while the network is changed. */
const LATE = "Late";

/** Looks in a row at a queue that has nothing but messages that no queue takes, until it is told; ten minutes of looks were 120. */
const MOST_LOOKS = 8;

/**
 * Runs the verb, and lets the caller do something to its process as it begins a step.
 * @returns its exit code, undefined if it was killed; and the lines that it printed
 */
async function enforce(
  { node }: TestBroker,
  vhost: string,
  args: string[],
  onLine: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<{ code?: number; lines: string[] }> {
  const management = ["--management", node.managementUrl.replace("://", "://guest:guest@"), "--vhost", vhost];
  const child = spawn(process.execPath, [command, "enforce", ...management, ...args]);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const error = text(child.stderr);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    onLine(line, child);
  }
  const code = await ended;
  const told = await error;
  assert.equal(told, "", `after ${lines.at(-1) ?? "no step"}: ${told}`);
  return { ...(code === null ? {} : { code }), lines };
}

/** More unconfirmed messages than a broker has that keeps up. */
const MOST_UNCONFIRMED = 500;

/** Messages sent at once, and how often. */
const AT_ONCE = rounds(1, 3);
const EVERY_MS = rounds(20, 10);

/** Sends messages until it is told to end, as NServiceBus's senders do; what is nacked is sent once more, by another body. */
class Sender {
  readonly names = [...endpoints];
  /** When each message is due that the broker took. */
  readonly dueMs = new Map<string, number>();
  /** What it did not take: a busy broker nacks what comes for a quorum queue whose leader does not answer within seconds. */
  readonly nacked = new Set<string>();
  private readonly confirmed: Promise<void>[] = [];
  private unconfirmed = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(channel: ConfirmChannel) {
    let count = 0;
    this.timer = setInterval(() => {
      for (let index = 0; index < AT_ONCE && this.unconfirmed < MOST_UNCONFIRMED; index++) {
        const [name, seconds] = [this.names[count % this.names.length] as string, count % 8];
        const confirm = this.send(channel, name, seconds, `${name} ${count++}`);
        // A test that failed closes the channel; what failed it is told, and not what that does here.
        confirm.catch(() => undefined);
        this.confirmed.push(confirm);
      }
    }, EVERY_MS);
    afterThisTest(() => clearInterval(this.timer));
  }

  /** Sends one message until the broker takes it. */
  async send(channel: ConfirmChannel, name: string, seconds: number, body: string): Promise<void> {
    this.dueMs.set(body, Date.now() + seconds * 1000);
    this.unconfirmed++;
    try {
      await sendDelayed(channel, generations.v2, name, seconds, body);
    } catch (error) {
      if (!isNack(error)) throw error;
      this.dueMs.delete(body);
      this.nacked.add(body);
      await this.send(channel, name, seconds, `${body} again`);
    } finally {
      this.unconfirmed--;
    }
  }

  async end(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.confirmed);
  }
}

function isNack(error: unknown): boolean {
  return error instanceof Error && error.message === "message nacked";
}

/** Publishes to a queue itself until the broker takes it. @returns the body that it took */
async function confirmed(channel: ConfirmChannel, queue: string, body: string): Promise<string> {
  const answer = await new Promise((resolve) => channel.sendToQueue(queue, Buffer.from(body), {}, resolve));
  if (isNack(answer)) return confirmed(channel, queue, `${body} again`);
  if (answer instanceof Error) throw answer;
  return body;
}

/** An endpoint that a sender binds while the network is changed. */
async function addLate(channel: ConfirmChannel, receiver: Receiver, sender: Sender): Promise<void> {
  await installEndpoint(channel, generations.v2, LATE);
  await receiver.add(LATE);
  // A new quorum queue needs a moment until it confirms; what it does not is sent again after minutes.
  const sinceMs = Date.now();
  sender.dueMs.set(await confirmed(channel, LATE, `${LATE} ready`), sinceMs);
  sender.names.push(LATE);
}

/** Checks that all that was sent came once, to its endpoint, and not early. */
async function checkArrivals(channel: ConfirmChannel, receiver: Receiver, sender: Sender): Promise<void> {
  await sender.end();
  // A nack leaves open whether the message comes; what was nacked counts for nothing.
  const taken = async (count: number): Promise<Arrival[]> => {
    for (let all = receiver.arrivals; ; all = await receiver.until(all.length + 1)) {
      const arrivals = all.filter(({ message }) => !sender.nacked.has(message.content.toString()));
      if (arrivals.length >= count) return arrivals;
    }
  };
  await taken(sender.dueMs.size);
  // What came twice comes before what is sent last.
  for (const name of sender.names) await sender.send(channel, name, 2, `${name} last`);
  const arrivals = await taken(sender.dueMs.size);
  assert.equal(arrivals.length, sender.dueMs.size);
  assert.ok(sender.names.includes(LATE));
  const bodies = new Set<string>();
  for (const { queue, message, atMs } of arrivals) {
    const body = message.content.toString();
    bodies.add(body);
    assert.equal(queue, body.split(" ")[0]);
    assertNotEarly(body, atMs, sender.dueMs.get(body) ?? Infinity);
  }
  assert.equal(bodies.size, arrivals.length, "some came twice");
}

describe("rabbitmq-delay enforce", () => {
  onEachBroker((broker) => {
    async function liveNetwork(): Promise<{ vhost: string; channel: ConfirmChannel; returned: () => number }> {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      for (const name of endpoints) await installEndpoint(channel, generations.v2, name);
      let count = 0;
      channel.on("return", () => count++);
      return { vhost, channel, returned: () => count };
    }

    it("changes a live network, and back, killed in each step of the first: nothing is lost, doubled, early or elsewhere", async function () {
      const { vhost, channel, returned } = await liveNetwork();
      const receiver = await Receiver.on(await openChannel(broker(), vhost), endpoints);
      const sender = new Sender(channel);
      const preset = ["--preset", "nservicebus"];
      for (const direction of [[], ["--undo"]]) {
        const seen = new Set<string>();
        const onLine = (line: string, child: ChildProcess): void => {
          if (direction.length === 0 && !seen.has(line)) child.kill("SIGKILL");
        };
        for (;;) {
          const { code, lines } = await enforce(broker(), vhost, [...preset, ...direction], onLine);
          for (const line of lines) seen.add(line);
          if (!sender.names.includes(LATE) && lines.some((line) => line.startsWith("unbind"))) {
            await addLate(channel, receiver, sender);
          }
          if (code === undefined) continue;
          assert.equal(code, 0, lines.join("; "));
          break;
        }
        assert.ok(seen.size > 15, `only ${seen.size} steps were seen: ${[...seen].join("; ")}`);
        const { lines } = await enforce(broker(), vhost, [...preset, ...direction, "--dry-run"]);
        assert.match(lines.join("\n"), /^network nsb\.v2\.delay (no longer )?enforces exact matching: nothing to do$/);
        const matching = direction.length === 0 ? "enforced" : "exact";
        const wanted = delayNetwork({ preset: "nservicebus", parking: false, matching });
        assert.deepEqual(await differencesOf(broker(), vhost, wanted), []);
      }
      await checkArrivals(channel, receiver, sender);
      assert.equal(returned(), 0, "some had no way");
      const queues = await broker().management.queues(vhost);
      assert.equal(queues.length, 28 + sender.names.length, queues.map(({ name }) => name).join(", "));
    });

    // The policy that leads late endpoints' messages on was turned round too early, and a run that woke up deleted the other one's way.
    it("goes back from where a run was killed, or stopped and woken up: nothing is lost, doubled, early or elsewhere", async function () {
      const { vhost, channel, returned } = await liveNetwork();
      const receiver = await Receiver.on(await openChannel(broker(), vhost), endpoints);
      const sender = new Sender(channel);
      const run = (
        args: string[],
        onLine?: (line: string, child: ChildProcess) => void,
      ): Promise<{ code?: number; lines: string[] }> =>
        enforce(broker(), vhost, ["--preset", "nservicebus", ...args], onLine);
      const isDrain = (line: string): boolean => /^wait until queue .*level-00 is empty/.test(line);

      const killed = await run([], (line, child) => isDrain(line) && child.kill("SIGKILL"));
      assert.ok(killed.code === undefined && killed.lines.some(isDrain), killed.lines.join("; "));
      let late: Promise<void> | undefined;
      const back = await run(["--undo"], () => (late ??= pause(1200).then(() => addLate(channel, receiver, sender))));
      assert.equal(back.code, 0);
      await late;

      let wake: (() => void) | undefined;
      let whole: Promise<{ lines: string[] }> = Promise.resolve({ lines: [] });
      await new Promise<void>((resolve, reject) => {
        whole = run([], (line, child) => {
          // Once only: a run that was woken may come to this step again.
          if (wake !== undefined || !/^delete policy .*-detour$/.test(line)) return;
          wake = () => child.kill("SIGCONT");
          setTimeout(() => child.kill("SIGSTOP"), 700);
          setTimeout(resolve, 1000);
        });
        whole.then(
          ({ lines }) => reject(new Error(`it ended before it could be stopped: ${lines.join("; ")}`)),
          reject,
        );
      });
      const undone = await run(["--undo"], (line) => {
        if (isDrain(line)) setTimeout(() => wake?.(), 500);
      }).catch(() => undefined);
      wake?.();
      // What it finds when it is woken may be nothing that it can go on with; it says so then.
      await whole.catch(() => undefined);
      if (undone?.code !== 0) await run(["--undo"]);
      await checkArrivals(channel, receiver, sender);
      assert.equal(returned(), 0, "some had no way");
      const { lines } = await run(["--undo"]);
      const wanted = delayNetwork({ preset: "nservicebus", parking: false });
      assert.deepEqual(await differencesOf(broker(), vhost, wanted), [], lines.join("; "));
    });

    it("refuses a network that is not there, one of another form, and one that can't be enforced, and changes nothing", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const run = (...args: string[]): Promise<{ code: number | null; err: string }> => fail(broker(), vhost, args);
      const missing = await run("--preset", "nservicebus");
      assert.equal(missing.code, 2);
      assert.match(missing.err, /exchange nsb\.v2\.delay-level-00 of it is not on the broker/);
      const celery = await run("--preset", "celery");
      assert.equal(celery.code, 2);
      assert.match(
        celery.err,
        /preset: "celery" is not allowed; matching is enforced on networks of the presets nservicebus/,
      );
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await channel.assertQueue("All");
      await channel.bindQueue("All", "nsb.v2.delay-delivery", "#");
      const wide = await run("--preset", "nservicebus");
      assert.equal(wide.code, 2);
      assert.match(
        wide.err,
        /binding: "#" is not allowed; queue All is bound to nsb\.v2\.delay-delivery with this key/,
      );
      const exchanges = await management.get<{ name: string }[]>(`exchanges/${vhost}?columns=name`);
      assert.ok(!exchanges.some(({ name }) => name.includes("exact") || name.includes("detour")));
    });

    it("refuses a user that lacks a right which only a later step needs, and changes nothing; a dry run needs none", async () => {
      const { vhost } = await liveNetwork();
      const all = { configure: ".*", write: ".*", read: ".*" };
      const cases = [
        { tags: "management", permissions: all, told: /lacks the tag policymaker/ },
        // The detour is declared first, and the new end's bindings and level 0's queue come last.
        {
          permissions: { ...all, configure: "^(?!nsb\\.v2\\.delay-level-00$)" },
          told: /configure nsb\.v2\.delay-level-00/,
        },
        { permissions: { ...all, read: "^(?!nsb\\.v2\\.delay-exact$)" }, told: /read nsb\.v2\.delay-exact and write/ },
        { permissions: { ...all, write: "^(?!Europe)" }, told: /write Europe\.Shipping/ },
        // Both a queue and an exchange have level 0's name.
        { permissions: { ...all, write: "^(?!nsb\\.v2\\.delay-level-00$)" }, told: /write nsb\.v2\.delay-level-00 in/ },
        { permissions: { ...all, read: "^(?!nsb\\.v2\\.delay-level-00$)" }, told: /read nsb\.v2\.delay-level-00 and/ },
        { permissions: { ...all, configure: "^$" }, told: /configure nsb\.v2\.delay/ },
      ];
      for (const { tags = "policymaker", permissions, told } of cases) {
        const user = await deployer(broker(), vhost, tags, permissions);
        const { code, err } = await fail(broker(), vhost, ["--preset", "nservicebus"], user);
        assert.equal(code, 3, err);
        assert.match(err, told);
        assert.match(err, /^error: --management: user deployer-\S+ (lacks|may not) .*nothing was made/);
        const dry = await fail(broker(), vhost, ["--preset", "nservicebus", "--dry-run"], user);
        assert.deepEqual([dry.code, dry.err], [0, ""]);
      }
      const { exchanges, policies } = await contentOf(broker(), vhost);
      assert.ok(!exchanges.some((name) => /exact|detour/.test(name)), exchanges.join(", "));
      assert.deepEqual(policies, []);
    });

    // A message for a name that has no endpoint kept a run silent for ten minutes, in the midst of its change.
    it("refuses to begin while messages have no endpoint, and tells of those that come to have none", async () => {
      const preset = ["--preset", "nservicebus"];
      const told =
        /messages that no queue takes.*: 1 in queue nsb\.v2\.delay-level-00.*Let them out: .*nsb\.v2\.delay-delivery and nsb/;
      /** A broker that counts in how many answers in a row a queue had nothing but such messages. */
      const watched = async (): Promise<{ broker: TestBroker; looks: Map<string, number> }> => {
        const looks = new Map<string, number>();
        const managementUrl = await managementProxy(broker().management.url, ({ path, isDone }, answer) => {
          if (!isDone || !/^\/api\/queues\/[^/]+\/[^/]+$/.test(path)) return answer;
          const { messages = 0, messages_dlx: past = 0 } = JSON.parse(answer || "{}") as Record<string, number>;
          looks.set(path, past > 0 && messages <= past ? (looks.get(path) ?? 0) + 1 : 0);
          return answer;
        });
        return { broker: { ...broker(), node: { ...broker().node, managementUrl } }, looks };
      };
      const before = async (): Promise<void> => {
        const { vhost, channel } = await liveNetwork();
        await publishDelayed(channel, generations.v2, "Nobody", 1, "x");
        const level = `queues/${vhost}/nsb.v2.delay-level-00?columns=messages_dlx`;
        while ((await broker().management.get<{ messages_dlx?: number }>(level)).messages_dlx !== 1) await pause(500);
        const ways = [await watched(), await watched()];
        const runs = [[], ["--dry-run"]].map((more, index) =>
          fail(ways[index]?.broker as TestBroker, vhost, [...preset, ...more]),
        );
        const [refused, dry] = (await Promise.all(runs)) as [End, End];
        for (const { looks } of ways)
          assert.ok(looks.size > 0 && Math.max(...looks.values()) <= MOST_LOOKS, JSON.stringify([...looks]));
        assert.deepEqual([refused.code, refused.out, dry.code, dry.err], [3, "", 0, ""]);
        assert.match(refused.err, told);
        assert.match(refused.err, /This run has done nothing$/m);
        assert.match(dry.out, told);
        assert.deepEqual((await contentOf(broker(), vhost)).policies, []);
      };
      const meanwhile = async (
        isTime: (line: string) => boolean,
        lose: (of: ConfirmChannel) => Promise<void>,
      ): Promise<void> => {
        const { vhost, channel } = await liveNetwork();
        let lost: Promise<void> | undefined;
        const way = await watched();
        const { code, out, err } = await fail(way.broker, vhost, preset, "guest:guest", (line, child) => {
          if (isTime(line)) lost ??= lose(channel);
          if (!told.test(line)) return;
          child.kill();
          assert.ok(Math.max(...way.looks.values()) <= MOST_LOOKS, JSON.stringify([...way.looks]));
        });
        await lost;
        assert.equal(code, null, out + err);
      };
      const toNobody = (channel: ConfirmChannel): Promise<void> =>
        publishDelayed(channel, generations.v2, "Nobody", 1, "x");
      const leave = async (channel: ConfirmChannel): Promise<void> => {
        const name = endpoints[0] as string;
        await publishDelayed(channel, generations.v2, name, 1, "x");
        await channel.deleteExchange(name);
        await channel.deleteQueue(name);
      };
      await Promise.all([
        before(),
        meanwhile(() => true, toNobody),
        meanwhile((line) => line.startsWith("unbind"), leave),
      ]);
    });

    // It said that the user's name or password is wrong.
    it("names the right that its user lacks for an endpoint that appears meanwhile, and goes on once the user has it", async () => {
      const { vhost, channel } = await liveNetwork();
      const all = { configure: ".*", write: ".*", read: ".*" };
      const user = await deployer(broker(), vhost, "policymaker", { ...all, write: `^(?!${LATE})` });
      let late: Promise<void> | undefined;
      const onLine = (line: string): void => {
        if (line.startsWith("unbind")) late ??= installEndpoint(channel, generations.v2, LATE);
      };
      const { code, err } = await fail(broker(), vhost, ["--preset", "nservicebus"], user, onLine);
      await late;
      assert.equal(code, 3, err);
      assert.match(err, new RegExp(`write ${LATE}\\b.* What was done stays; run it again to go on$`, "m"));
      assert.doesNotMatch(err, /password|nothing was made/);
      await broker().management.call("PUT", `permissions/${vhost}/${user.split(":")[0]}`, all);
      const again = await fail(broker(), vhost, ["--preset", "nservicebus"], user);
      assert.equal(again.code, 0, again.err);
    });
  });
});

/** Makes a user for this test. @returns `USER:PASSWORD` */
async function deployer(
  { management }: TestBroker,
  vhost: string,
  tags: string,
  permissions: Record<"configure" | "write" | "read", string>,
): Promise<string> {
  const name = `deployer-${randomUUID()}`;
  await management.call("PUT", `users/${name}`, { password: "secret", tags });
  afterThisTest(() => management.call<void>("DELETE", `users/${name}`));
  await management.call("PUT", `permissions/${vhost}/${name}`, permissions);
  return `${name}:secret`;
}

/** The names of what a change could leave. */
async function contentOf(
  { management }: TestBroker,
  vhost: string,
): Promise<{ exchanges: string[]; policies: string[] }> {
  const [exchanges, policies] = await Promise.all(
    ["exchanges", "policies"].map(async (kind) => {
      const found = await management.get<{ name: string }[]>(`${kind}/${vhost}`);
      return found.map(({ name }) => name);
    }),
  );
  return { exchanges: exchanges as string[], policies: policies as string[] };
}

/** Exit code and output of a run; no code if it was killed. */
interface End {
  code: number | null;
  out: string;
  err: string;
}

async function fail(
  { node }: TestBroker,
  vhost: string,
  args: string[],
  login = "guest:guest",
  onLine: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<End> {
  const management = ["--management", node.managementUrl.replace("://", `://${login}@`), "--vhost", vhost];
  const child = spawn(process.execPath, [command, "enforce", ...management, ...args]);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const error = text(child.stderr);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    onLine(line, child);
  }
  return { code: await ended, out: lines.join("\n"), err: await error };
}
