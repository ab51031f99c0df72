import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as amqp from "amqplib";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { TestBroker, onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { kubernetesOf, objects, onKubernetes, restrictedNamespace, until } from "../support/controlPlanes";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";
import { temporaryFolder } from "../support/temporaryFolder";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const example = join(root, "examples", "service-stack");

interface Secret {
  metadata: { name: string };
  data: Record<string, string>;
}
interface ConfigMap {
  metadata: { name: string };
  data: Record<string, string>;
}
interface Deployment {
  spec: { template: { spec: { containers: { image: string }[] } } };
}

let modules: Promise<string> | undefined;

/** The example's packages, installed once as a newcomer does, but for ours, which come from this checkout. */
async function installed(): Promise<string> {
  // Outlives the test that installs them: each broker's uses them.
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-"));
  cpSync(join(example, "package.json"), join(folder, "package.json"));
  const own = ["components", "packages/topology", "packages/broker"].map((path) => join(root, path));
  await run("npm", ["pack", "--pack-destination", folder, ...own], { cwd: root });
  const archives = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  await run("npm", ["install", ...quiet, ...archives.map((name) => `./${name}`)], { cwd: folder });
  return folder;
}

describe("services in stacks of their own", () => {
  after(async () => {
    if (modules !== undefined) rmSync(await modules, { recursive: true, force: true });
  });

  it("the docs have the example's three files as they are", () => {
    const page = readFileSync(join(root, "docs", "service-on-kubernetes.md"), "utf8");
    for (const file of ["Pulumi.yaml", "package.json", "index.ts"]) {
      assert.ok(page.includes(readFileSync(join(example, file), "utf8").trimEnd()), file);
    }
  });

  onKubernetes((plane) => {
    onEachBroker((broker) => {
      it("come and go while the network carries messages; the broker's stack never changes; no name is taken twice", async function () {
        modules ??= installed();
        const packages = await modules;
        const namespace = await restrictedNamespace(plane());
        const vhost = await broker().management.createVhost();
        const brokerStack = await TestStack.create(broker(), vhost);
        brokerStack.configure({ network: shape, endpoints: [{ name: "Sales", createQueue: true }] });
        await brokerStack.up();
        const network = delayNetwork(shape);

        const channel = await openChannel(broker(), vhost);
        const sales = await Receiver.on(channel, ["Sales"]);
        const traffic = keepPublishing(channel, network, "Sales");

        const service = async (project: string, endpoint: string): Promise<TestStack> => {
          const folder = programOf(project, packages);
          const stack = await TestStack.create(broker(), vhost, folder, brokerStack);
          const [folders, variables] = await kubernetesOf(plane());
          // To check types once is enough.
          const isChecked = endpoint === "Shipping";
          const compiler = { PULUMI_NODEJS_TRANSPILE_ONLY: String(!isChecked) };
          stack.extend(folders, { ...variables, ...brokerVariables(broker()), ...compiler });
          const { host } = new URL(broker().node.amqpUrl);
          stack.configureProject(project, {
            endpoint,
            namespace,
            brokerStack: "organization/rabbitmq-delay/test",
            amqpUrl: `amqp://${host}`,
            image: "registry.example.com/service:1",
          });
          return stack;
        };
        const billing = await service(`billing-${randomUUID().slice(0, 8)}`, "Billing");
        const shipping = await service(`shipping-${randomUUID().slice(0, 8)}`, "Shipping");
        await billing.up();
        await shipping.up();
        assert.deepEqual(await billing.preview("--refresh"), []);
        assert.deepEqual(await brokerStack.preview("--refresh"), []);

        // The service's side: what its pods get is enough, and no more than it needs.
        const secrets = await objects<Secret>(plane(), namespace, "secrets");
        const url = Buffer.from(
          secrets.find(({ metadata }) => metadata.name.startsWith("billing"))?.data.RABBITMQ_URL ?? "",
          "base64",
        ).toString();
        const maps = await objects<ConfigMap>(plane(), namespace, "configmaps");
        const map = maps.find(({ metadata }) => metadata.name.startsWith("billing"));
        const connection = await amqp.connect(url);
        connection.on("error", () => undefined);
        afterThisTest(() => connection.close().catch(() => undefined));
        const own = await connection.createConfirmChannel();
        const given = JSON.parse(map?.data["network.json"] ?? "") as DelayNetwork;
        const received = await Receiver.on(own, ["Billing"]);
        await createDelayPublisher(own, given).publish("Billing", "to itself", { delayMs: 50 });
        const [arrival] = await received.until(1);
        assert.equal(arrival?.message.content.toString(), "to itself");
        await assert.rejects(async () => {
          const other = await connection.createChannel();
          other.on("error", () => undefined);
          await other.consume("Shipping", () => undefined);
        }, /ACCESS_REFUSED|refused/);
        const deployments = await until(
          () => objects<Deployment>(plane(), namespace, "deployments"),
          (found) => found.length === 2,
        );
        assert.equal(deployments[0]?.spec.template.spec.containers[0]?.image, "registry.example.com/service:1");

        // A third service wants the endpoint of the first.
        const thief = await service("thief", "Billing");
        const refused = await thief.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(refused.code, 0);
        assert.match(refused.output, /"Billing" belongs to billing-[^]*thief\/test wants it/);
        await thief.destroy();
        assert.deepEqual(await billing.preview("--refresh"), [], "the first has what it had");

        await shipping.destroy();
        await billing.destroy();
        assert.deepEqual(await brokerStack.preview("--refresh"), []);
        const sent = await traffic.stop();
        assert.ok(sent > 50);
        const arrivals = await sales.until(sent);
        assert.equal(new Set(arrivals.map(({ message }) => message.properties.messageId as string)).size, sent);
        assert.equal(arrivals.length, sent);
      });
    });

    onEachBroker((broker) => {
      it("the broker takes a claim again from its owner, and from nobody else", async () => {
        const { management } = broker();
        const vhost = await management.createVhost();
        const claim = (owner: string): Promise<unknown> =>
          management.call("PUT", `exchanges/${vhost}/rabbitmq-delay.owner-of-endpoint.Billing`, {
            type: "fanout",
            durable: true,
            arguments: { "alternate-exchange": owner },
          });
        await claim("billing/prod");
        await claim("billing/prod");
        await assert.rejects(
          claim("shipping/prod"),
          /inequivalent arg 'alternate-exchange'.*shipping\/prod.*billing\/prod/,
        );
      });
    });
  });
});

/** The three files of the example under another project's name. */
function programOf(project: string, modules: string): string {
  const folder = temporaryFolder();
  for (const file of ["index.ts", "package.json"]) cpSync(join(example, file), join(folder, file));
  const manifest = readFileSync(join(example, "Pulumi.yaml"), "utf8").replace(/^name: .*$/m, `name: ${project}`);
  writeFileSync(join(folder, "Pulumi.yaml"), manifest);
  symlinkSync(join(modules, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Where the provider of a service's stack finds the broker, as in a shell. */
function brokerVariables({ node }: TestBroker): Record<string, string> {
  return { RABBITMQ_ENDPOINT: node.managementUrl, RABBITMQ_USERNAME: "guest", RABBITMQ_PASSWORD: "guest" };
}

/** A message every 50 ms, delayed by 30 to 300 ms, until it is told to stop. */
function keepPublishing(
  channel: amqp.ConfirmChannel,
  network: DelayNetwork,
  destination: string,
): { stop: () => Promise<number> } {
  const publisher = createDelayPublisher(channel, network);
  let [isOver, sent] = [false, 0];
  const publishing = (async (): Promise<void> => {
    while (!isOver) {
      await publisher.publish(destination, "x", { delayMs: 30 + ((sent * 10) % 270), messageId: randomUUID() });
      sent++;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await publishing;
      return sent;
    },
  };
}
