import { strict as assert } from "node:assert";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { BindingPlan, PolicyPlan } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";
import type { StateResource, TestStack } from "./stack";
import { temporaryFolder } from "./temporaryFolder";

/** A state as `pulumi stack export` writes it. */
interface ExportedState {
  version: number;
  deployment: { manifest: { time: string }; resources: (StateResource & Record<string, unknown>)[] };
}

/** A secret in the form in which the engine writes it readably. */
interface PlainSecret {
  plaintext: string;
}

const fixtures = join(root, "test", "engine", "fixtures");
/** Properties that say when, and by which line of which file, something was made. */
const OF_ONE_RUN = ["created", "modified", "sourcePosition", "stackTrace"];
/** The length of passwords that components generate. */
const PASSWORD_BYTES = 24;

/**
 * Keeps a stack's state as a fixture, without the parts that differ in each run: the vhost, the broker's address, times, and generated
 * passwords. It is compressed, because it is long and repetitive; `zcat` shows it, one resource a line.
 */
export async function keepState({ node }: TestBroker, stack: TestStack, fixture: string): Promise<void> {
  const { code, output } = await stack.run(["stack", "export", "--show-secrets", "--stack", "test"]);
  assert.equal(code, 0, output);
  const { version, deployment } = JSON.parse(output) as ExportedState;
  const { resources, manifest, ...others } = deployment;
  const passwords = resources
    .filter(({ type }) => type.endsWith(":RandomPassword"))
    .map(({ outputs }) => outputs?.result);
  const lines = resources.map((resource) =>
    JSON.stringify(Object.fromEntries(Object.entries(resource).filter(([key]) => !OF_ONE_RUN.includes(key)))),
  );
  const head = JSON.stringify({ ...others, manifest: { ...manifest, time: new Date(0).toISOString() } });
  let text = `{"version":${version},"deployment":${head.slice(0, -1)},"resources":[\n${lines.join(",\n")}\n]}}\n`;
  text = text.replaceAll(node.managementUrl, "MANAGEMENT_URL").replaceAll(stack.vhost, "VHOST");
  passwords.forEach((password, index) => {
    text = text.replaceAll(plain(password), `PASSWORD_${index}_`);
  });
  writeFileSync(join(fixtures, fixture), gzipSync(text, { level: 9 }));
}

/**
 * Puts a recorded state into a stack, and declares its content on the broker, as the recorded version left both.
 * @returns the recorded resources
 */
export async function restoreState(broker: TestBroker, stack: TestStack, fixture: string): Promise<StateResource[]> {
  const passwords = new Map<string, string>();
  const drawPassword = (placeholder: string): string => {
    const password = passwords.get(placeholder) ?? randomBytes(PASSWORD_BYTES).toString("hex");
    passwords.set(placeholder, password);
    return password;
  };
  const text = readFixture(fixture)
    .replaceAll("VHOST", stack.vhost)
    .replaceAll("MANAGEMENT_URL", broker.node.managementUrl)
    .replaceAll(/PASSWORD_\d+_/g, drawPassword);
  const { resources } = (JSON.parse(text) as ExportedState).deployment;
  await declareRecorded(broker, stack.vhost, resources);
  const file = join(temporaryFolder(), "state.json");
  writeFileSync(file, text);
  const { code, output } = await stack.run(["stack", "import", "--stack", "test", "--file", file]);
  assert.equal(code, 0, output);
  return resources;
}

function readFixture(fixture: string): string {
  const content = readFileSync(join(fixtures, fixture));
  return (fixture.endsWith(".gz") ? gunzipSync(content) : content).toString();
}

/** Declares everything at once, as a backup is restored; users belong to the whole broker, and are deleted after the test. */
async function declareRecorded({ management }: TestBroker, vhost: string, resources: StateResource[]): Promise<void> {
  const inputsOf = <T>(type: string): T[] =>
    resources.filter((resource) => resource.type.endsWith(`:${type}`)).map(({ inputs }) => inputs as T);
  const path = encodeURIComponent;
  await management.call("POST", `definitions/${vhost}`, {
    exchanges: inputsOf<{ name: string; settings: { type: string; arguments?: object } }>("Exchange").map(
      ({ name, settings }) => ({
        name,
        type: settings.type,
        durable: true,
        auto_delete: false,
        internal: false,
        arguments: settings.arguments ?? {},
      }),
    ),
    queues: inputsOf<{ name: string; settings: { argumentsJson: string } }>("Queue").map(({ name, settings }) => ({
      name,
      durable: true,
      auto_delete: false,
      arguments: JSON.parse(settings.argumentsJson) as object,
    })),
    bindings: inputsOf<BindingPlan>("Binding").map(({ source, destination, destinationType, routingKey }) => ({
      source,
      destination,
      destination_type: destinationType,
      routing_key: routingKey,
      arguments: {},
    })),
    policies: inputsOf<{ name: string; policy: Omit<PolicyPlan, "name"> }>("Policy").map(({ name, policy }) => ({
      name,
      pattern: policy.pattern,
      "apply-to": policy.applyTo,
      priority: policy.priority,
      definition: withNumbers(policy.definition),
    })),
  });
  for (const { name, password } of inputsOf<{ name: string; password: unknown }>("User")) {
    await management.call("PUT", `users/${path(name)}`, { password: plain(password), tags: "" });
    afterThisTest(() => management.call<void>("DELETE", `users/${path(name)}`).catch(() => undefined));
  }
  for (const { user, permissions } of inputsOf<{ user: string; permissions: object }>("Permissions"))
    await management.call("PUT", `permissions/${vhost}/${path(user)}`, permissions);
  for (const { user, permissions } of inputsOf<{ user: string; permissions: object[] }>("TopicPermissions")) {
    for (const permission of permissions)
      await management.call("PUT", `topic-permissions/${vhost}/${path(user)}`, permission);
  }
}

/** The provider stores numbers as texts. */
function withNumbers(definition: PolicyPlan["definition"]): PolicyPlan["definition"] {
  const entries = Object.entries(definition);
  return Object.fromEntries(entries.map(([key, value]) => [key, /^-?\d+$/.test(String(value)) ? +value : value]));
}

function plain(secret: unknown): string {
  return JSON.parse((secret as PlainSecret).plaintext) as string;
}
