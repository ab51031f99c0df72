import { strict as assert } from "node:assert";
import { join } from "node:path";
import { installPackages } from "../../toolchain/dist/release/npmInstall";
import { packPackages, publishedPackages } from "../../toolchain/dist/release/npmPackages";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { codeBlocks } from "../support/codeBlocks";
import { openChannel } from "../support/connect";
import { bringUpProgram, startService } from "../support/pagePrograms";
import { Receiver } from "../support/receive";
import { temporaryFolder } from "../support/temporaryFolder";

const STACK = "pulumi-rabbitmq-delay";
const SERVICE = "@rabbitmq-delay/publish";

describe("the README", () => {
  onEachBroker((broker, { isNewest }) => {
    if (!isNewest) return;
    it("has a program and a publish call that work as they stand, by packed packages in empty folders", async () => {
      const [program = "", service = ""] = codeBlocks("README.md", "ts");
      for (const [text, most] of [
        [program, 15],
        [service, 8],
      ] as const)
        assert.ok(text.trim().split("\n").length <= most, text);
      const tarballs = await packed([STACK, SERVICE]);
      const [stack, sender] = [temporaryFolder(), temporaryFolder()];
      await installPackages(stack, [...tarballs(STACK), "typescript@5.9.3", "ts-node@10.9.2"]);
      await installPackages(sender, [...tarballs(SERVICE), "amqplib@2.3.1"]);

      // The program declares in the vhost /, which other tests use on the shared broker.
      const own = await ownTestBroker(broker().node.installation);
      const { delayNetwork, retryIntervals } = await bringUpProgram(stack, program, own);
      assert.ok(delayNetwork !== undefined && retryIntervals !== undefined);
      const queues = (await own.management.queues("%2F")).map(({ name }) => name);
      for (const name of ["Billing", "Billing_error"]) assert.ok(queues.includes(name), name);

      const receiver = await Receiver.on(await openChannel(own, "%2F"), ["Billing"]);
      const sentAtMs = Date.now();
      startService(sender, service, { RABBITMQ_URL: own.node.amqpUrl, DELAY_NETWORK: JSON.stringify(delayNetwork) });
      const [arrival] = await receiver.until(1);
      assert.ok(arrival);
      assert.deepEqual(JSON.parse(arrival.message.content.toString()), { invoice: 4711 });
      assert.ok(arrival.atMs - sentAtMs >= 10_000);
    });
  });
});

/** Packs published packages with all that they need. @returns the tarballs of one of them */
async function packed(names: string[]): Promise<(name: string) => string[]> {
  const folder = temporaryFolder();
  const made = publishedPackages().filter(({ name }) => names.includes(name));
  await packPackages([...new Set(made.flatMap((one) => [one, ...one.needs]))], folder);
  return (name) =>
    made
      .filter((one) => one.name === name)
      .flatMap((one) => [one, ...one.needs])
      .map(({ tarball }) => join(folder, tarball));
}
