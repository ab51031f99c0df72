import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { showError } from "../dist/errorText";
import { runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

/** Part of a password in each address. */
const PLANTED = "Planted4711";
const amqp = `amqp://user:${PLANTED}@host:5672/vh`;

// An address in the wrong place, or behind a mistyped option, was repeated with its password, and stood in the log of a pipeline.
describe("passwords in an error", () => {
  const refusals: [string, (value: string) => string][] = [
    ["an unknown command", (value) => `error: unknown command '${value}'`],
    ["a choice", (value) => `error: option '--format <format>' argument '${value}' is invalid.`],
    ["a file", (value) => `error: --network: ${value} can't be read (ENOENT: no such file, open '${value}')`],
    ["a name", (value) => `error: prefix: ${JSON.stringify(value)} is not allowed; it must not contain @ or /`],
  ];
  const addresses = [
    amqp,
    `http://user:${PLANTED}@host:15672`,
    `user:${PLANTED}@host`,
    `postgres://user:a b ${PLANTED}@db/x`,
    `postgres://user:a"'${PLANTED}@b@db/x`,
    `https://hooks.example.com/services/${PLANTED}`,
    `https://example.com?token=${PLANTED}`,
    `amqp://user:${PLANTED}`,
    `amqp://user:${PLANTED}\n@host`,
  ];
  for (const [what, refusal] of refusals) {
    it(`are not shown where ${what} is refused`, () => {
      for (const address of addresses) {
        for (const args of [["x", address], [`--nework=${address}`], ["--header", `a=${address}`]]) {
          const shown = showError(refusal(address), args);
          assert.doesNotMatch(shown, new RegExp(PLANTED), shown);
          assert.match(shown, /^error: /, "the rest stays");
        }
      }
    });
  }

  it("are not shown behind an option that is none, whatever they look like", () => {
    for (const argument of [`--pasword=${PLANTED}`, `--pasword=${PLANTED}'x`, `-p${PLANTED}`]) {
      const shown = showError(`error: unknown option '${argument}'\n(Did you mean --password?)`, [argument]);
      assert.doesNotMatch(shown, new RegExp(PLANTED), shown);
      assert.match(shown, /unknown option '-/);
    }
    assert.equal(showError("error: unknown option '--nework'", ["--nework"]), "error: unknown option '--nework'");
  });

  it("are not shown of an address that a file had in it", () => {
    for (const address of addresses) {
      const shown = showError(`error: network.matching: ${JSON.stringify(address)} is not allowed`, []);
      assert.doesNotMatch(shown, new RegExp(PLANTED), shown);
    }
  });

  it("leave what is no secret as it is", () => {
    for (const text of [
      "error: --management: http://127.0.0.1:15672/api does not answer (ECONNREFUSED)",
      "error: --amqp: it must be an address like amqp://user:password@host:5672/vhost, with @, /, # and ? written as %40",
      "error: --forward: write EXCHANGE=DELIVERY",
      'error: preset: "x" is not allowed',
    ]) {
      assert.equal(showError(text, ["check", "--management", "http://127.0.0.1:15672", "--preset", "x"]), text);
    }
  });

  it("are in no output of the command", async () => {
    const config = join(temporaryFolder(), "Pulumi.prod.yaml");
    writeFileSync(
      config,
      JSON.stringify({ config: { "rabbitmq-delay:network": { preset: "nservicebus", matching: amqp } } }),
    );
    for (const args of [
      [amqp],
      ["store", amqp],
      ["review", amqp],
      ["review", "--stack", amqp],
      ["review", `--managment=${amqp}`, "x.json"],
      ["check", "--allow", amqp],
      ["check", "--stack-config", config],
      ["comment", amqp, "--on", "github"],
      ["store", "list", "--store", "sqlite::memory:", "--before", amqp],
    ]) {
      const { code, out, err } = await runCommand(args);
      assert.equal(code, 2, err);
      assert.doesNotMatch(out + err, new RegExp(PLANTED), args.join(" "));
      assert.match(err, /^error: /);
    }
  });
});
