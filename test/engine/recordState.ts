import { randomUUID } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findKubernetesPlugins } from "../../toolchain/dist/kubernetesPlugins";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { keepState } from "../support/recordedState";
import { TestStack } from "../support/stack";
import { configuredStack, fixtureOf, ownProgram } from "./everything";

/**
 * Records what a version leaves behind, for test/engine/upgrade.test.ts: RECORD_FROM is a checkout of that version, compiled.
 * Run it as CONTRIBUTING.md says of one file.
 */
describe("the state of an earlier version", () => {
  const checkout = process.env.RECORD_FROM as string;
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string };
  onEachBroker((broker, { isNewest }) => {
    for (const recorded of [ownProgram, configuredStack]) {
      it(`is recorded: ${recorded.name}`, async () => {
        const { programOf, isOwnProgram, configOf } = recorded;
        if (isOwnProgram) copyProgram(programOf(root), programOf(checkout), checkout);
        const vhost = `test-${randomUUID()}`;
        const config = configOf(vhost, { isNewest });
        if (!config.createVhost) await broker().management.putVhost(vhost);
        afterThisTest(() => broker().management.deleteVhost(vhost));
        const stack = await TestStack.create(broker(), vhost, programOf(checkout));
        stack.extend((await findKubernetesPlugins(() => undefined)).folders, {});
        stack.configure(config);
        await stack.up();
        await keepState(broker(), stack, fixtureOf(recorded, version, { isNewest }));
      });
    }
  });
});

/** The program imports the components by the name that their package has in that version. */
function copyProgram(from: string, to: string, checkout: string): void {
  cpSync(from, to, { recursive: true });
  const { name } = JSON.parse(readFileSync(join(checkout, "components", "package.json"), "utf8")) as { name: string };
  const file = join(to, "index.js");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace('require("pulumi-rabbitmq-delay")', `require(${JSON.stringify(name)})`));
}
