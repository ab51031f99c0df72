import { strict as assert } from "node:assert";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { delayNetwork, planBinding } from "@rabbitmq-delay/topology";
import { checkEndpointsApart, componentKinds } from "@rabbitmq-delay/topology/stack";
import { linksOf } from "../../site/src/links";
import { sitePages } from "../../site/src/pages";
import { root } from "../../toolchain/dist/paths";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages = [...sitePages(root).keys()];

/** The sentences of a text without its code, and its tables' rows, each on one line. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/^```[^]*?^```/gm, "")
    .split(/\n\s*\n|\n(?=\|)/)
    .flatMap((paragraph) => paragraph.replace(/\s+/g, " ").split(/(?<=\.) /));
}

/** Whether a sentence says that `consumeWithRetries` works with rabbitmq-client, or leaves room for it. */
function promisesRetries(sentence: string): boolean {
  return (
    sentence.includes("rabbitmq-client") &&
    /\bworks? with\b|\bretr(?:y|ies)\b|consumeWithRetries/i.test(sentence) &&
    !/`consumeWithRetries` with amqplib alone|createMessageRecoverer/.test(sentence)
  );
}

/** Names of the components that lead, by imports of values, to Pulumi's `random`. */
function componentsWithRandom(): string[] {
  const imports = (file: string): string[] =>
    [...readFileSync(file, "utf8").matchAll(/^import (?!type )[^;]*? from "(.+)";/gm)].map(([, name = ""]) => name);
  const needs = (file: string, seen = new Set<string>()): boolean =>
    imports(file).some((name) => {
      const other = join(dirname(file), `${name}.ts`);
      if (name === "@pulumi/random") return true;
      if (!name.startsWith(".") || seen.has(other) || !existsSync(other)) return false;
      return needs(other, seen.add(other));
    });
  return Object.keys(componentKinds).filter((name) =>
    needs(join(root, "components", `${name[0]?.toLowerCase()}${name.slice(1)}.ts`)),
  );
}

describe("the documents", () => {
  it("say nowhere that consumeWithRetries works with rabbitmq-client", () => {
    for (const sentence of [
      "The helper works with amqplib and with rabbitmq-client.",
      "With rabbitmq-client, retries are slow.",
    ])
      assert.ok(promisesRetries(sentence), sentence);
    const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`);
    const wrong = ["README.md", ...pages, ...packages.filter((file) => existsSync(join(root, file)))].flatMap((page) =>
      sentencesOf(read(page))
        .filter(promisesRetries)
        .map((sentence) => `${page}: ${sentence}`),
    );
    assert.deepEqual(wrong, []);
    for (const page of ["packages/publish/README.md", "docs/start.md", "docs/typescript.md"])
      assert.match(read(page), /`consumeWithRetries`\s+with\s+amqplib\s+alone/, page);
  });

  it("name Pulumi's plugin `random` with each component that needs it, where a component stands without a password", () => {
    const names = componentsWithRandom();
    assert.deepEqual(names.sort(), ["DelayGateway", "DelayedMessageStore", "EndpointUser", "RabbitMqCluster"]);
    const place = "environments.md#a-user-for-each-service";
    const [section = ""] = /^## A user for each service\n[^]*/m.exec(read("docs/environments.md")) ?? [];
    const [told = ""] = section.split(/\n\n/).filter((paragraph) => paragraph.includes("Pulumi's plugin `random`"));
    for (const name of names) assert.ok(told.includes(`\`${name}\``), name);
    const without = new RegExp(
      `\\bnew (?:${names.join("|")})\\(|: rabbitmq-delay:(?:index:)?(?:${names.join("|")})\\b`,
    );
    const showing = pages.filter((page) =>
      [...read(page).matchAll(/^```\w+\n([^]*?)^```/gm)].some(
        ([, code = ""]) => without.test(code) && (/credentials: \[\{\}\]/.test(code) || !/password/i.test(code)),
      ),
    );
    assert.ok(showing.length >= 4, showing.join(", "));
    const untold = showing.filter(
      (page) => page !== "docs/environments.md" && !linksOf(read(page)).some((link) => link.endsWith(place)),
    );
    assert.deepEqual(untold, []);
  });

  // Such a stack could not be previewed, and nothing said why.
  it("name in the changelog the setting without which a stack of 0.1.0 is refused", () => {
    const network = delayNetwork({ preset: "nservicebus" });
    const bound = ["Sales", "Europe.Sales"].flatMap((name) => planBinding(network, { name }).bound);
    assert.throws(
      () => checkEndpointsApart(bound),
      ({ message }: Error) => {
        const [, pair = ""] = /add (".*") to allow/.exec(message) ?? [];
        return pair !== "" && read("CHANGELOG.md").includes(`\`allow: [${pair}]\``);
      },
    );
  });
});
