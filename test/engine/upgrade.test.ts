import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { parseDelayNetwork } from "@rabbitmq-delay/topology";
import { findKubernetesPlugins } from "../../toolchain/dist/kubernetesPlugins";
import { root } from "../../toolchain/dist/paths";
import { TestBroker, onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import type { FoundQueue } from "../support/management";
import { Receiver } from "../support/receive";
import { restoreState } from "../support/recordedState";
import { StateResource, Step, TestStack } from "../support/stack";
import { RecordedStack, configuredStack, fixtureOf, ownProgram } from "./everything";

/** Of which the fixtures are. */
const VERSION = "0.1.0";
/** What waits at least so long is still there when the test looks. */
const LONG_MS = 600_000;
/** Delays of messages that are on their way while the stack is upgraded. */
const DELAYS_MS = Array.from({ length: 16 }, (_, index) => 1250 * (index + 1));
/** Where those arrive. */
const ARRIVAL_QUEUES = ["Sales", "invoices-in", "work"];

/** Names of steps with a start in common. */
function steps(start: string, names: string[], end = ""): string[] {
  return names.map((name) => `${start}${name}${end}`);
}

/** Claims of endpoints; 0.1.0 claimed those alone whose network came out of another stack. */
function claimsOfEndpoints(names: string[]): string[] {
  return names.map((name) => `create Exchange ${name}-rabbitmq-delay.owner-of-endpoint.${name}`);
}

/** Claims of logins; 0.1.0 claimed the start of their names alone, and that for a network that was an output. */
function claimsOfUsers(component: string, names: string[]): string[] {
  return names.map((name) => `create Exchange ${component}-rabbitmq-delay.owner-of-user.VHOST-${name}`);
}

/** What keeps messages that come back from interval queues to no queue. */
function parkingOf(component: string, prefix: string): string[] {
  const name = `${component}-${prefix}-parking`;
  return [...steps("create ", ["Exchange ", "Queue ", "Policy "], name), `create Binding ${name}-to-${prefix}-parking`];
}

/** Policies of quorum queues that don't count on purpose: RabbitMQ 4 would give their messages up after 20 deliveries. */
function limitsOf(names: string[]): string[] {
  return steps("create Policy ", names, ".delivery-limit");
}

/** All that the preview of an upgrade shows of a program of one's own; everything else stays the same. */
function stepsOfOwnProgram(isNewest: boolean): string[] {
  return [
    ...claimsOfEndpoints(["Archive", "Billing", "Counted", "Europe.Billing", "Europe.Sales", "Invoices", "Sales"]),
    ...claimsOfEndpoints(["Ledger", "Yearly", "tasks"]),
    ...claimsOfUsers("mail", ["mail"]),
    ...claimsOfUsers("sales", ["sales-2026", "sales-2027"]),
    ...claimsOfUsers("store", ["store", "store-2026", "store-2027"]),
    ...limitsOf([
      "Archive-Archive",
      "Audit-Audit",
      "Billing-Billing",
      "Europe.Billing-Europe.Billing",
      "Ledger-Ledger",
    ]),
    ...limitsOf(["Mail-Mail", "Reports-Reports", "Sales-Sales", "Yearly-Yearly", "safe-safe.10800000q.0::Sales"]),
    ...limitsOf(["ages-years.r16x1u3600000", "delay-orders.r4x4u250"]),
    ...limitsOf(["plain-delayed.control", "plain-delayed.error", "plain-delayed.intake"]),
    ...limitsOf(["store-later.control", "store-later.error", "store-later.intake"]),
    ...limitsOf(["retries-mt-delay-parking", "slow-slow-18000000", "slow-slow-parking"]),
    ...limitsOf(["work-work", "work-work.dead", "work-work.retry-20000", "work-work.retry-7200000"]),
    ...(isNewest ? limitsOf(["counted-counted.dead", "tuned-tuned.dead"]) : []),
    "create Policy celery-eu_celery_delayed_delivery-limit",
    "create Policy nsb-nsb.v2.delay-delivery-limit",
    ...parkingOf("retries", "mt-delay"),
    ...parkingOf("slow", "slow"),
    // Under the queue's name, which consumers put on their failed messages; 0.1.0 bound the endpoint's, and they came back to nobody.
    "replace Binding Invoices-/return",
  ];
}

/** The same of the project's own program, which knows the broker's version: before 4.0 there is no limit to lift. */
function stepsOfConfiguredStack(isNewest: boolean): string[] {
  const limited = [
    ...["Sales-Sales", "counted-counted.dead", "delay-orders.r2x2u3600000"],
    ...["retries-mt-delay-18000000", "retries-mt-delay-parking"],
    ...["store-delayed.control", "store-delayed.error", "store-delayed.intake"],
    ...["work-work", "work-work.dead", "work-work.retry-7200000"],
  ];
  return [
    ...claimsOfEndpoints(["Europe.Sales", "Sales", "work"]),
    ...claimsOfUsers("store", ["store"]),
    ...parkingOf("retries", "mt-delay"),
    ...(isNewest ? limitsOf(limited) : []),
  ];
}

/** A step as a person names it, e.g. `create Policy Sales-Sales.delivery-limit`. */
function nameOf({ op, urn }: Step, vhost: string): string {
  const [, type, name] = /^urn:pulumi:.*?::.*?::(?:.*?\$)?[^:]*:[^:]*:([^:]*)::(.*)$/s.exec(urn) as unknown as string[];
  return `${op} ${type} ${name}`.replaceAll(vhost, "VHOST");
}

/** Whether a message that is put into a queue stays there for the whole test. */
function isLong({ arguments: values }: FoundQueue): boolean {
  const ttlMs = values["x-message-ttl"] as number | undefined;
  return ttlMs === undefined || ttlMs >= LONG_MS;
}

/** A stack as 0.1.0 left it, with a message in each queue in which one waits longer than the test. */
interface OldStack {
  stack: TestStack;
  vhost: string;
  channel: ConfirmChannel;
  recorded: StateResource[];
  queues: FoundQueue[];
}

async function oldStack(broker: TestBroker, recordedStack: RecordedStack, isNewest: boolean): Promise<OldStack> {
  const { management } = broker;
  const vhost = await management.createVhost();
  const stack = await TestStack.create(broker, vhost, recordedStack.programOf(root));
  stack.extend((await findKubernetesPlugins(() => undefined)).folders, {});
  stack.configure(recordedStack.configOf(vhost, { isNewest }));
  const recorded = await restoreState(broker, stack, fixtureOf(recordedStack, VERSION, { isNewest }));
  const queues = await management.queues(vhost);
  const channel = await openChannel(broker, vhost);
  for (const { name } of queues.filter(isLong))
    channel.sendToQueue(name, Buffer.from(`waits in ${name}`), { persistent: true });
  await channel.waitForConfirms();
  return { stack, vhost, channel, recorded, queues };
}

/**
 * Looks at the preview, brings the stack up, and looks whether everything that was there is there still, with its messages.
 * @param arrivals queues into which messages come meanwhile
 */
async function checkUpgrade(
  { management }: TestBroker,
  { stack, vhost, channel, recorded, queues }: OldStack,
  expected: string[],
  arrivals: string[] = [],
): Promise<void> {
  const planned = await stack.preview();
  assert.deepEqual(planned.map((step) => nameOf(step, vhost)).sort(), expected.sort());
  await stack.up();
  const after = await management.queues(vhost);
  for (const queue of queues) {
    const now = after.find(({ name }) => name === queue.name);
    assert.deepEqual(now?.arguments, queue.arguments, queue.name);
  }
  for (const { name } of queues.filter((queue) => isLong(queue) && !arrivals.includes(queue.name)))
    assert.equal((await channel.checkQueue(name)).messageCount, 1, `${name} still has its message`);
  const urns = (await stack.resources()).map(({ urn }) => urn);
  for (const { urn } of recorded) assert.ok(urns.includes(urn), urn);
  assert.deepEqual(await stack.preview(), []);
}

describe(`an upgrade from ${VERSION}`, () => {
  onEachBroker((broker, { isNewest }) => {
    it("of a program that declares everything: what waits still waits, what is on its way arrives once", async function () {
      // Nearly six hundred resources.
      const old = await oldStack(broker(), ownProgram, isNewest);
      const { channel, queues } = old;
      const expected = ARRIVAL_QUEUES.map((name) => `waits in ${name}`);
      const send = (exchange: string, routingKey: string, body: string): void => {
        expected.push(body);
        channel.publish(exchange, routingKey, Buffer.from(body), { persistent: true });
      };
      const publisher = createDelayPublisher(channel, networkOf(old.recorded));
      for (const delayMs of DELAYS_MS) {
        for (const destination of ["Sales", "invoice.late"]) {
          const body = `${destination} after ${delayMs} ms`;
          expected.push(body);
          await publisher.publish(destination, body, { delayMs });
        }
      }
      send("mt-delay-20000", "Sales", "comes back from an interval queue");
      send("work.retry-20000", "work", "comes back from a work queue's retry");
      send("", queues.find(({ name }) => name.startsWith("hold.20000"))?.name as string, "held");
      await channel.waitForConfirms();

      await checkUpgrade(broker(), old, stepsOfOwnProgram(isNewest), ARRIVAL_QUEUES);

      const receiver = await Receiver.on(channel, ARRIVAL_QUEUES);
      await receiver.until(expected.length);
      for (const { name } of queues.filter((queue) => !isLong(queue)))
        assert.equal((await channel.checkQueue(name)).messageCount, 0, `${name} has nothing left`);
      assert.deepEqual(receiver.arrivals.map(({ message }) => message.content.toString()).sort(), expected.sort());
    });

    it("of a stack by its config: what waits still waits", async () => {
      const old = await oldStack(broker(), configuredStack, isNewest);
      await checkUpgrade(broker(), old, stepsOfConfiguredStack(isNewest));
      assert.deepEqual(await old.stack.preview("--refresh"), []);
    });
  });
});

/** The descriptor that services took from the stack when it was of 0.1.0, and still have. */
function networkOf(recorded: StateResource[]): ReturnType<typeof parseDelayNetwork> {
  return parseDelayNetwork(recorded.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs?.delayNetwork);
}
