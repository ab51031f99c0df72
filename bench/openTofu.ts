import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DelayNetwork, delayNetwork, parkingPolicy, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { newestInstallation } from "../toolchain/dist/brokerInstallations";
import { findOpenTofu } from "../toolchain/dist/openTofu";
import { run as runCommand } from "../toolchain/dist/run";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { TestStack } from "../test/support/stack";
import { inVhost, secondsOf } from "./declare";
import { report } from "./statistics";

/** Endpoints, and how often each size is repeated: the large ones take minutes. */
const sizes: [number, number][] = [
  [0, 3],
  [300, 3],
  [1000, 3],
];
const options = { preset: "nservicebus" } as const;

type Seconds = Record<"up" | "preview" | "destroy", number>;
type Form = "Pulumi" | "for_each" | "flat";

/** `up`, `preview` with nothing changed and `destroy`, against OpenTofu with the same upstream provider. */
export async function benchOpenTofu(): Promise<void> {
  const tofu = await findOpenTofu((line) => console.log(`  ${line}`));
  const broker = await startTestBroker(await newestInstallation(() => undefined));
  for (const [endpoints, repetitions] of sizes) {
    console.log(`up / preview / destroy with ${endpoints} endpoints, ${repetitions} repetitions (min / median / max)`);
    const names = Array.from({ length: endpoints }, (_, index) => `endpoint-${index}`);
    const results: Record<Form, Seconds[]> = { Pulumi: [], for_each: [], flat: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      results.Pulumi.push(await inVhost(broker, (vhost) => runPulumi(broker, vhost, names)));
      for (const form of ["for_each", "flat"] as const) {
        results[form].push(await inVhost(broker, (vhost) => runTofu(tofu, broker, vhost, names, form)));
      }
    }
    for (const step of ["up", "preview", "destroy"] as const) {
      for (const form of ["Pulumi", "for_each", "flat"] as const) {
        const name = form === "Pulumi" ? form : `OpenTofu ${form}`;
        report(
          `${endpoints} endpoints, ${step}, ${name}`,
          results[form].map((run) => run[step]),
          "s",
        );
      }
      for (const form of ["for_each", "flat"] as const) {
        const ratios = results.Pulumi.map((run, index) => run[step] / (results[form][index]?.[step] ?? Number.NaN));
        report(`${endpoints} endpoints, ${step}, ratio Pulumi / OpenTofu ${form}`, ratios, "times");
      }
    }
  }
  await removeTestBroker(broker.node);
}

async function runPulumi(broker: TestBroker, vhost: string, names: string[]): Promise<Seconds> {
  const stack = await TestStack.create(broker, vhost);
  stack.startsPrograms = true;
  stack.configure({ network: options, endpoints: names.map((name) => ({ name, createQueue: true })) });
  const up = await secondsOf(() => stack.up());
  const preview = await secondsOf(() => stack.previewAsText());
  const destroy = await secondsOf(() => stack.destroy());
  stack.remove();
  return { up, preview, destroy };
}

async function runTofu(
  bin: string,
  broker: TestBroker,
  vhost: string,
  names: string[],
  form: "for_each" | "flat",
): Promise<Seconds> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-tofu-"));
  const network = delayNetwork(options);
  writeFileSync(join(folder, "main.tf.json"), JSON.stringify(document(broker, vhost, network, names, form)));
  writeFileSync(
    join(folder, "rc"),
    `provider_installation {\n dev_overrides { "cyrilgdn/rabbitmq" = "${bin}" }\n direct {}\n}\n`,
  );
  const env = { ...process.env, TF_CLI_CONFIG_FILE: join(folder, "rc") };
  const run = (...args: string[]): Promise<number> =>
    secondsOf(async () => {
      const all = [...args, "-no-color", "-input=false", "-parallelism=16"];
      await runCommand(join(bin, "tofu"), all, { cwd: folder, env });
    });
  const up = await run("apply", "-auto-approve");
  const preview = await run("plan");
  const destroy = await run("destroy", "-auto-approve");
  rmSync(folder, { recursive: true, force: true });
  return { up, preview, destroy };
}

/** The same entities as one OpenTofu document: the network flat, the endpoints flat or by for_each. */
function document(
  broker: TestBroker,
  vhost: string,
  network: DelayNetwork,
  names: string[],
  form: "for_each" | "flat",
): object {
  const { exchanges, queues, bindings } = planEntities(network);
  const id = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, "_");
  const exchangeBlocks = exchanges.map(({ name, type }) => [
    id(name),
    { name, vhost, settings: { type, durable: true } },
  ]);
  const queueBlock = (name: string, values: object): [string, object] => [
    id(name),
    {
      name,
      vhost,
      settings: { durable: true, arguments_json: JSON.stringify(Object.fromEntries(Object.entries(values).sort())) },
    },
  ];
  const queueBlocks = queues.map(({ name, arguments: values }) => queueBlock(name, values));
  const bindingBlocks: [string, object][] = bindings.map(({ source, destination, destinationType, routingKey }) => [
    `${id(source)}-to-${id(destination)}`,
    {
      source: `\${rabbitmq_exchange.${id(source)}.name}`,
      vhost,
      destination: `\${rabbitmq_${destinationType}.${id(destination)}.name}`,
      destination_type: destinationType,
      routing_key: routingKey,
    },
  ]);
  const delivery = `\${rabbitmq_exchange.${id(network.deliveryExchange)}.name}`;
  const stars = planBinding(network, { name: "x" }).bindings[0]?.routingKey.slice(0, -1) ?? "";
  const endpoint = { source: delivery, vhost, destination_type: "queue" };
  if (form === "flat") {
    for (const name of names) {
      queueBlocks.push(queueBlock(name, { "x-queue-type": "quorum" }));
      const destination = `\${rabbitmq_queue.${id(name)}.name}`;
      bindingBlocks.push([`endpoint-${id(name)}`, { ...endpoint, destination, routing_key: `${stars}${name}` }]);
    }
  } else if (names.length > 0) {
    const each = { for_each: `\${toset(${JSON.stringify(names)})}` };
    const settings = { durable: true, arguments_json: '{"x-queue-type":"quorum"}' };
    queueBlocks.push(["endpoint", { ...each, name: "${each.key}", vhost, settings }]);
    const destination = "${rabbitmq_queue.endpoint[each.key].name}";
    bindingBlocks.push(["endpoint", { ...each, ...endpoint, destination, routing_key: `${stars}\${each.key}` }]);
  }
  const policy = parkingPolicy(network);
  if (policy === undefined) throw new Error("the bench's network has parking");
  const { name, pattern, applyTo, priority, definition } = policy;
  return {
    terraform: { required_providers: { rabbitmq: { source: "cyrilgdn/rabbitmq" } } },
    provider: { rabbitmq: { endpoint: broker.node.managementUrl, username: "guest", password: "guest" } },
    resource: {
      rabbitmq_exchange: Object.fromEntries(exchangeBlocks) as object,
      rabbitmq_queue: Object.fromEntries(queueBlocks) as object,
      rabbitmq_binding: Object.fromEntries(bindingBlocks) as object,
      rabbitmq_policy: { parking: { name, vhost, policy: { pattern, apply_to: applyTo, priority, definition } } },
    },
  };
}
