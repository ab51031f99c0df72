import { strict as assert } from "node:assert";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { codeBlocks } from "../support/codeBlocks";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { bringUpProgram, startService } from "../support/pagePrograms";
import { Receiver } from "../support/receive";
import { checkTypes, folderWithModules } from "../support/typeCheck";

/** The blocks of TypeScript with which a page begins, run as a reader who copies them runs them. */
describe("the first code of a page works as it stands:", () => {
  it("its types fit", async () => {
    const folder = folderWithModules();
    for (const page of ["README", "docs/retries", "docs/services", "docs/typescript", "docs/holds"])
      for (const [index, lines] of codeBlocks(`${page}.md`, "ts").slice(0, 2).entries())
        writeFileSync(join(folder, `${page.replace("/", "-")}-${index}.mts`), lines);
    assert.equal(readdirSync(folder).filter((file) => file.endsWith(".mts")).length, 7);
    await checkTypes(folder);
  });

  onEachBroker((broker, { isNewest }) => {
    if (!isNewest) return;

    it("docs/retries.md", async () => {
      const [stack = "", service = ""] = codeBlocks("docs/retries.md", "ts");
      // The program declares in the vhost /, which other tests use on the shared broker.
      const own = await ownTestBroker(broker().node.installation);
      const { retryIntervals } = await bringUpProgram(folderWithModules(), stack, own);
      const channel = await openChannel(own, "%2F");
      const errors = await Receiver.on(channel, ["Billing_error"]);
      startService(folderWithModules(), service, {
        RABBITMQ_URL: own.node.amqpUrl,
        RETRY_INTERVALS: JSON.stringify(retryIntervals),
      });
      channel.sendToQueue("Billing", Buffer.from("{}"));
      const [refused] = await errors.until(1);
      const { headers } = refused?.message.properties ?? {};
      assert.equal(headers?.["rabbitmq-delay.error-reason"], "an order without an amount");
      assert.equal(headers?.["rabbitmq-delay.error-tries"], 1);

      channel.sendToQueue("Billing", Buffer.from("no JSON"));
      const { intervalsMs, prefix } = retryIntervals as { intervalsMs: number[]; prefix: string };
      assert.deepEqual(intervalsMs, [5000, 60_000, 900_000]);
      const second = `${prefix}-${intervalsMs[1]}`;
      const isThere = async (): Promise<boolean> => (await channel.checkQueue(second)).messageCount === 1;
      while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 100));
    });

    it("docs/typescript.md and docs/holds.md", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 16, vhost });
      await declareOverAmqp(channel, planEntities(network));
      await channel.assertQueue("some-address");
      for (const { source, destination, routingKey } of planBinding(network, { name: "some-address" }).bindings)
        await channel.bindQueue(destination, source, routingKey);
      const receiver = await Receiver.on(channel, ["some-address"]);
      const variables = {
        RABBITMQ_URL: `${broker().node.amqpUrl}/${vhost}`,
        DELAY_NETWORK: JSON.stringify(network),
      };
      for (const page of ["docs/typescript.md", "docs/holds.md"]) {
        const [lines = ""] = codeBlocks(page, "ts");
        await startService(folderWithModules(), lines, variables)(/^[0-9a-f-]{36} arrives at \d{4}-/m);
      }
      const [held] = await receiver.until(1);
      assert.deepEqual(JSON.parse(held?.message.content.toString() ?? ""), { order: 4711 });
    });
  });
});
