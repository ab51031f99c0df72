import { strict as assert } from "node:assert";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { DelayedExchangeOptions, delayedExchange, planDelayedExchange } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import { TestBroker, onEachBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { RecipeProcess } from "../support/recipeProcess";
import { Recipe, recipes, recipesFolder } from "../support/recipes";
import { Receiver } from "../support/receive";

/** What a test waits for. */
const SHORT_MS = [100, 300];
/** What waits in its queue for longer; clients write a number in the narrowest type, and some in one without a sign. */
const LONG_MS = [40_000, 70_000, 3_000_000_000, 5_000_000_000];
/** What the recipes publish: no delay, each that is declared, and one that is not. */
const delaysOf = ({ longestMs = Infinity }: Recipe): number[] =>
  [0, ...SHORT_MS, ...LONG_MS, 301].filter((delayMs) => delayMs <= longestMs);

/** How many messages are ready in each queue. */
type Depths = Record<string, number>;

describe("a program that used the delayed-message plugin", function () {
  // The first run fetches each client's libraries.

  it("is run for each folder of recipes", () => {
    // What those of amqplib do is in the engine's test of delayed exchanges.
    const folders = readdirSync(recipesFolder).filter((folder) => folder !== "amqplib");
    assert.deepEqual(folders.sort(), recipes.map(({ client }) => client).sort());
  });

  onEachBroker((broker, { isNewest }) => {
    for (const recipe of recipes) {
      describe(recipe.client, () => {
        it("gets each message once, in time, by its key, with those lines changed that say so", async () => {
          const { url, channel } = await setUp(broker());
          const consumer = recipe.startConsumer && (await RecipeProcess.startConsumer(recipe, url));
          await consumer?.says(/ready/);
          const delaysMs = delaysOf(recipe);
          const program = await RecipeProcess.start(recipe, url, delaysMs.map(String));
          await checkArrivals(consumer ?? program, channel, delaysMs);
          await checkParked(channel);
        });

        it("is refused as it was before", async () => {
          const { url } = await setUp(broker());
          const program = await RecipeProcess.startConsumer(recipe, url, [], { isFormer: true });
          const code = isNewest ? "PRECONDITION_FAILED" : "COMMAND_INVALID";
          await program.says(new RegExp(`${code} - (?:unknown|invalid) exchange type '?x-delayed-message`));
        });

        const types = join(root, "test", "fromThePlugin", "types", `${recipe.client}${extname(recipe.file)}`);
        if (existsSync(types))
          it("sends its delay in any whole type or as text, and may declare a headers exchange", async () => {
            const { url, channel } = await setUp(broker(), { otherwise: "later" });
            const receiver = await receiverOf(channel);
            const program = await RecipeProcess.start(recipe, url, [], { program: readFileSync(types, "utf8") });
            await checkTypes(program, channel, receiver);
          });
      });
    }

    it("retries a task of Celery by the header; a countdown is held by the worker, or parked", async () => {
      const { url, channel } = await setUp(broker());
      const recipe = recipes.find(({ client }) => client === "celery") as Recipe;
      const program = readFileSync(join(root, "test", "fromThePlugin", "celeryRetry.py"), "utf8");
      const worker = await RecipeProcess.startConsumer({ ...recipe, file: "shop.py" }, url, [], { program });
      const arrivals = await worker.arrivals(2);
      assert.deepEqual(arrivals.map(({ delay }) => delay).sort(), ["300", "none"]);
      for (const { delay, afterMs } of arrivals) assertNotEarly(delay, afterMs, delay === "none" ? 1000 : 300);
      await untilDepths(channel, { ...depthsOf([]), "shop.parking": 1, bills: 0 });
    });
  });
});

/** A vhost with the delayed exchange `shop`, and a queue that another key leads to. */
async function setUp(
  { node, management }: TestBroker,
  options: Partial<DelayedExchangeOptions> = {},
): Promise<{ url: string; channel: ConfirmChannel }> {
  const vhost = await management.createVhost();
  const channel = await openChannel({ node, management }, vhost);
  const plan = planDelayedExchange(
    delayedExchange({ exchange: "shop", delays: [...SHORT_MS, ...LONG_MS], type: "direct", ...options }),
  );
  if (options.otherwise !== undefined) {
    await channel.assertExchange(options.otherwise, "fanout", { durable: true });
    await channel.assertQueue(options.otherwise, { durable: true });
    await channel.bindQueue(options.otherwise, options.otherwise, "");
  }
  for (const { name, pattern, applyTo, priority, definition } of plan.policies)
    await management.call("PUT", `policies/${vhost}/${name}`, { pattern, "apply-to": applyTo, priority, definition });
  await declareOverAmqp(channel, plan);
  await channel.assertQueue("others", { durable: true });
  await channel.bindQueue("others", "shop.delivery", "sent");
  return { url: `${node.amqpUrl}/${vhost}`, channel };
}

/** What arrives in a queue that is bound as the recipes bind theirs, and where `otherwise` leads. */
async function receiverOf(channel: ConfirmChannel): Promise<Receiver> {
  await channel.assertQueue("bills", { durable: true });
  await channel.bindQueue("bills", "shop.delivery", "paid");
  return Receiver.on(channel, ["bills", "later"]);
}

/** That a program's own queue got what is due, once; that what is not due waits, and that there is no other copy of anything. */
async function checkArrivals(program: RecipeProcess, channel: ConfirmChannel, delaysMs: number[]): Promise<void> {
  const arrivals = await program.arrivals(3);
  for (const { key, afterMs, delay } of arrivals) {
    assert.equal(key, "paid");
    assertNotEarly(delay, afterMs, Number(delay));
  }
  const waitingMs = LONG_MS.filter((delayMs) => delaysMs.includes(delayMs));
  await untilDepths(channel, { ...depthsOf(waitingMs), "shop.parking": 1, bills: 0, others: 0 });
  const delays = (await program.arrivals(3)).map(({ delay }) => Number(delay));
  assert.deepEqual(
    delays.sort((one, other) => one - other),
    [0, ...SHORT_MS],
  );
}

/** That what has another delay is parked as it was published. */
async function checkParked(channel: ConfirmChannel): Promise<void> {
  const parked = await channel.get("shop.parking", { noAck: true });
  assert.ok(parked !== false);
  assert.equal(parked.fields.routingKey, "paid");
  assert.equal(parked.properties.headers?.["x-delay"], 301);
}

/** That each message, of a body `TYPE MILLISECONDS`, waits or waited in the queue of its delay, or is where `otherwise` leads. */
async function checkTypes(program: RecipeProcess, channel: ConfirmChannel, receiver: Receiver): Promise<void> {
  const sent = [...(await program.ended()).matchAll(/^\w+ (-?\d+)$/gm)].map(([body, delay]) => ({
    body,
    delay: Number(delay),
  }));
  assert.ok(sent.filter(({ delay }) => SHORT_MS.includes(delay)).length >= 2, JSON.stringify(sent));
  const due = sent.filter(({ delay }) => !LONG_MS.includes(delay));
  const arrivals = await receiver.until(due.length);
  const found = arrivals.map(({ queue, message }) => {
    const [death] = (message.properties.headers?.["x-death"] ?? []) as { queue: string }[];
    return [message.content.toString(), queue, message.fields.routingKey, death?.queue];
  });
  const wanted = due.map(({ body, delay }) =>
    SHORT_MS.includes(delay) ? [body, "bills", "paid", `shop.delay-${delay}`] : [body, "later", "paid", undefined],
  );
  assert.deepEqual(found.sort(), wanted.sort());
  const waiting = sent.map(({ delay }) => delay).filter((delay) => LONG_MS.includes(delay));
  await untilDepths(channel, { ...depthsOf(waiting), bills: 0, later: 0, "shop.parking": 0 });
}

/** How many messages each delay's queue holds while those of these delays wait. */
function depthsOf(waitingMs: number[]): Depths {
  const count = (delayMs: number): number => waitingMs.filter((each) => each === delayMs).length;
  return Object.fromEntries([...SHORT_MS, ...LONG_MS].map((delayMs) => [`shop.delay-${delayMs}`, count(delayMs)]));
}

/** Waits until queues hold as many messages; the counts of a queue are a moment late. */
async function untilDepths(channel: ConfirmChannel, wanted: Depths): Promise<void> {
  for (;;) {
    const found: Depths = {};
    for (const queue of Object.keys(wanted)) found[queue] = (await channel.checkQueue(queue)).messageCount;
    if (JSON.stringify(found) === JSON.stringify(wanted)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
