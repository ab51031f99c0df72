import { strict as assert } from "node:assert";
import { join } from "node:path";
import { componentKinds } from "@rabbitmq-delay/topology/stack";

interface Schema {
  components: Record<string, { inputs: Record<string, unknown>; outputs: Record<string, unknown> }>;
}

/** The SDK's own inference, which a component package in another language relies on. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- the SDK exports it without a typed path
const { Analyzer } = require("@pulumi/pulumi/provider/experimental/analyzer") as {
  Analyzer: new (folder: string, name: string, packageJson: object, components: Set<string>) => { analyze(): Schema };
};

describe("the schema for other languages", () => {
  it("takes all components with their arguments and outputs", () => {
    const folder = join(__dirname, "..");
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- data
    const packageJson = require("../package.json") as object;
    const names = new Set<string>(Object.keys(componentKinds));
    const { components } = new Analyzer(folder, "rabbitmq-delay", packageJson, names).analyze();
    assert.deepEqual(Object.keys(components).sort(), [...names].sort());
    assert.deepEqual(Object.keys(components.DelayLevelTopology?.outputs ?? {}), ["network", "networkJson"]);
    assert.deepEqual(Object.keys(components.EndpointDelayBinding?.outputs ?? {}).sort(), [
      "bindingKeys",
      "destination",
    ]);
    assert.deepEqual(Object.keys(components.RetryIntervalQueues?.outputs ?? {}), [
      "retryIntervals",
      "retryIntervalsJson",
    ]);
    assert.deepEqual(Object.keys(components.WorkRetryQueues?.outputs ?? {}), ["workRetry", "workRetryJson"]);
    assert.deepEqual(Object.keys(components.HoldQueues?.outputs ?? {}), ["holdQueues", "holdQueuesJson"]);
    assert.deepEqual(Object.keys(components.DelayedExchange?.outputs ?? {}), [
      "delayedExchange",
      "delayedExchangeJson",
    ]);
    assert.deepEqual(Object.keys(components.ErrorQueues?.outputs ?? {}), ["names"]);
    assert.deepEqual(Object.keys(components.DelayedRetryQueue?.outputs ?? {}), ["delayedRetry", "delayedRetryJson"]);
    assert.deepEqual(Object.keys(components.DelayedMessageStore?.outputs ?? {}).sort(), [
      "delayedStore",
      "delayedStoreJson",
      "passwords",
      "users",
    ]);
    assert.deepEqual(Object.keys(components.RabbitMqCluster?.outputs ?? {}).sort(), [
      "amqpUrl",
      "credentialsSecret",
      "managementUrl",
      "password",
      "username",
    ]);
    assert.deepEqual(Object.keys(components.EndpointUser?.outputs ?? {}).sort(), ["passwords", "users"]);
    assert.ok(Object.keys(components.EndpointDelayBinding?.inputs ?? {}).includes("network"));
  });
});
