import { strict as assert } from "node:assert";
import { delayNetwork } from "@rabbitmq-delay/topology";
import type { ConfiguredNetwork } from "@rabbitmq-delay/topology/stack";
import type { ProgramConfig } from "../../program/config";
import { checkProduction } from "../../program/production";

const config = {
  production: true,
  removal: "delete",
  allow: ["removal-delete"],
  broker: { managementUrl: "http://rabbitmq", username: "guest" },
} as unknown as ProgramConfig;
const network = delayNetwork({ preset: "custom", prefix: "orders", queueType: "classic" });

// Five of them took six previews.
describe("what no production stack should have", () => {
  it("is named as a whole, but for what the config allows", () => {
    const networks = [{ place: "network", network }] as ConfiguredNetwork[];
    assert.throws(
      () => checkProduction(config, networks),
      (error: Error) => {
        const named = [...error.message.matchAll(/or add (\S+) to allow/g)].map(([, allowance]) => allowance);
        assert.deepEqual(named, ["classic-level-queues", "plain-text", "guest-user"]);
        return true;
      },
    );
    const allow = ["removal-delete", "classic-level-queues", "plain-text", "guest-user"];
    checkProduction({ ...config, allow } as ProgramConfig, networks);
  });
});
