import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { hasCommand } from "../../toolchain/dist/run";
import { TestBroker, onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";

describe("the .NET client", function () {
  // The first run fetches NuGet's packages and compiles.

  before(async function () {
    if (await hasCommand("dotnet")) return;
    console.log("      no .NET SDK: clients/dotnet not run");
    this.skip();
  });

  it("passes its tests that need no broker, among them all vectors", () => runTests());

  onEachBroker((broker) => {
    it("passes all its tests", () => runTests(broker()));
  });
});

/** Runs the client's own tests, which find their brokers by the environment. */
async function runTests(broker?: TestBroker): Promise<void> {
  const env = {
    ...process.env,
    RABBITMQ_URLS: broker?.node.amqpUrl ?? "",
    RABBITMQ_MANAGEMENT_URLS: broker?.node.managementUrl ?? "",
    DOTNET_CLI_TELEMETRY_OPTOUT: "1",
    DOTNET_NOLOGO: "1",
  };
  const project = join(root, "clients", "dotnet", "RabbitMqDelay.Tests");
  // Its output tells which of its tests failed.
  const child = spawn("dotnet", ["test", project, "--blame-hang-timeout", "5m"], { env, stdio: "inherit" });
  afterThisTest(() => void child.kill());
  const [code] = (await once(child, "exit")) as [number | null];
  assert.equal(code, 0, "dotnet test failed");
}
