import { strict as assert } from "node:assert";
import { join } from "node:path";
import { onEachBroker } from "../support/brokers";
import { TestStack } from "../support/stack";

/** Of each mistake in a secret that is known later, what is said of it. */
const mistakes: Record<string, RegExp> = {
  vhost: /: vhost: \[secret\] can't be read; /,
  "vhost of an endpoint":
    /error: vhost: a secret is not allowed; the network is declared in "\[secret\]"; leave vhost out/,
  network: /error: network: a secret is not allowed; it must be a delay network's descriptor/,
  "version of a network": /error: network\.version: a secret is not allowed; this release reads versions 1 and 2/,
  "property of a network": /error: network(\.\w+)?: unknown property; known /,
  password: /error: credentials\[0\]\.password: "7 characters" is not allowed; it must have at least 12 characters/,
  username: /: rabbitmq:username: the broker at \S+ refuses user \[secret\] or its password/,
  endpoint: /: rabbitmq:endpoint: no broker answers at \[secret\]/,
  cacertFile: /error: rabbitmq:cacertFile: (\[secret\]|…) can't be read/,
  "retried queue": /error: broker\.username: the broker at \S+ refuses user \[secret\] or its password/,
};

// A short password ended in an unhandled exception with a stack trace, when the exchanges of the network had been made, and a secret in
// another's place was shown.
describe("values that are known later", () => {
  onEachBroker((broker) => {
    for (const [kind, message] of Object.entries(mistakes))
      it(`a mistake in a secret shows its property alone, before anything is made: ${kind}`, async () => {
        const vhost = await broker().management.createVhost();
        const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "laterValues"));
        stack.configure({ network: { kind } });
        for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
          const { output, code } = await stack.run([...command, "--stack", "test"]);
          assert.doesNotMatch(output, /Hunter2|4815162342|Unhandled|serializing|\n\s+at /, output);
          assert.match(output, message, output);
          if (command[0] === "up") assert.notEqual(code, 0, output);
        }
        // Its component asks a broker of its own, once the others may have begun.
        if (kind === "retried queue") return;
        const names = await broker().management.get<{ name: string }[]>(`exchanges/${vhost}`);
        assert.deepEqual(
          names.filter(({ name }) => name !== "" && !name.startsWith("amq.")),
          [],
        );
      });
  });
});
