import { strict as assert } from "node:assert";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { Checkout } from "../support/checkout";
import { skipUnless } from "../support/missingPrograms";
import { Shell, commandsOf } from "../support/shell";

/** Commands for which a machine needs more than this project installs: a Kubernetes cluster, or a broker of the reader's own. */
const ELSEWHERE = [/-s staging\b/, /^kubectl /, /-s prod\b/, /init prod\b/];

/** The page's sections: heading and text. */
function sectionsOf(page: string): Map<string, string> {
  const parts = page.split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n"))]));
}

function skipWithoutBroker(this: Mocha.Context): void {
  skipUnless(existsSync("/usr/sbin/rabbitmq-server"), this, "no RabbitMQ is installed on this machine");
}

/** Types the commands of a page's first block, and waits for each process that stays. */
async function typeFirstBlock(page: string, shell: Shell): Promise<void> {
  const [start = ""] = readFileSync(join(root, "docs", page), "utf8").split(/^## /m);
  for (const command of commandsOf(start)) {
    await shell.type(command);
    if (command.includes("receive.js")) await shell.printsLater(/waiting (for|on)/);
    if (command.includes(" run ")) await shell.printsLater(/"msg":"running"/);
  }
}

describe("the first commands of docs/gateway.md and docs/store.md", function () {
  before(skipWithoutBroker);

  it("deliver each message when it is due, but for the one that is cancelled", async () => {
    const checkout = new Checkout();
    const gateway = new Shell(checkout);
    await typeFirstBlock("gateway.md", gateway);
    const store = new Shell(checkout);
    await typeFirstBlock("store.md", store);
    for (const body of ["declared", "any other"]) await gateway.printsLater(new RegExp(`Z {2}${body}`));
    await store.printsLater(/Z {2}hello/);
    await store.printsLater(/order-17/);
    assert.doesNotMatch(await store.type("npx rabbitmq-delay store list"), /order-17/);
    for (const shell of [gateway, store]) shell.end();
  });
});

// Whoever tries the project types this page from its first line on.
describe("docs/start.md", function () {
  before(skipWithoutBroker);

  it("does what it says, typed command by command", async () => {
    const sections = sectionsOf(readFileSync(join(root, "docs", "start.md"), "utf8"));
    const typed: string[] = [];
    const checkout = new Checkout();
    const shell = new Shell(checkout);
    const type = async (heading: string): Promise<string> => {
      let output = "";
      for (const command of commandsOf(sections.get(heading) ?? "")) {
        typed.push(command);
        output += await shell.type(command);
        if (command.includes("store run")) await shell.printsLater(/"msg":"running"/);
      }
      return output;
    };

    await type("The first delayed message");
    await shell.printsLater(/ {2}hello {2}\(due \S+, \d+ ms late\)/);

    const listed = await type("See, cancel and move what waits");
    assert.match(listed, /order-17/);
    await shell.printsLater(/Z {2}hello {2}\n/);
    assert.doesNotMatch(await shell.type("npx rabbitmq-delay store list"), /order-17/);

    const reviewed = await type("Review a change");
    assert.match(reviewed, /safe|nothing/i);

    const [, added] =
      /```yaml\nrabbitmq-delay:endpoints:\n([^]*?)```/.exec(sections.get("Add an endpoint") ?? "") ?? [];
    const config = join(checkout.folder, "Pulumi.dev.yaml");
    const invoicing = (added as string).split("\n").slice(2).join("\n");
    const before = readFileSync(config, "utf8");
    writeFileSync(
      config,
      before.replace(
        /^( +)- name: some-address\n(?:\1 +.*\n)*/m,
        (found) => found + invoicing.replace(/^ {2}/gm, "    "),
      ),
    );
    assert.notEqual(readFileSync(config, "utf8"), before);
    const previewed = await type("Add an endpoint");
    assert.match(previewed, /\+ 4 to create/);
    assert.match(await shell.type("pulumi preview -s dev"), /unchanged/);

    const all = commandsOf([...sections.values()].join("\n"));
    const left = all.filter((command) => !typed.includes(command));
    assert.deepEqual(
      left.filter((command) => !ELSEWHERE.some((pattern) => pattern.test(command))),
      [],
    );
    assert.ok(typed.length > 12, typed.join("\n"));
    shell.end();
  });
});
