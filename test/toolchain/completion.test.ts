import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { hasCommand } from "../../toolchain/dist/run";
import { shells } from "../../toolchain/dist/shells";

const COMMAND = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");

/** How to ask a shell what it would complete: a program of it, with the script's file and the line so far as arguments. */
const askers: Record<string, string[]> = {
  bash: [
    "--norc",
    "-c",
    'source "$1"; read -ra COMP_WORDS <<< "$2"; [[ "$2" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); ' +
      '_rabbitmq_delay; printf "%s\\n" "${COMPREPLY[@]}"',
    "bash",
  ],
  // Zsh has no line to complete here; what it does with a function of bash is done by hand.
  zsh: [
    "-fc",
    'source "$1"; COMP_WORDS=(${=2}); [[ "$2" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS} - 1)); ' +
      "() { emulate -L sh; setopt kshglob noshglob braceexpand; _rabbitmq_delay; }; print -rl -- $COMPREPLY",
    "zsh",
  ],
  fish: ["--no-config", "-c", "source $argv[1]; complete -C $argv[2]"],
};

describe("the command's completions", function () {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-completion-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [shell, program] of Object.entries(askers)) {
    it(`${shell} completes verbs, options, their values and files`, async function () {
      if (!(await hasCommand(shell))) {
        console.log(`      skipped: this machine has no ${shell}`);
        this.skip();
      }
      const script = join(folder, `script.${shell}`);
      writeFileSync(script, execFileSync(process.execPath, [COMMAND, "completion", shell]));
      writeFileSync(join(folder, "network.json"), "{}");
      const complete = (line: string): string =>
        execFileSync(shell, [...program, script, line], { cwd: folder, encoding: "utf8", timeout: 30_000 });
      const check = (line: string, expected: RegExp[], unexpected: RegExp[] = []): void => {
        const found = complete(line);
        for (const one of expected) assert.match(found, one, line);
        for (const one of unexpected) assert.doesNotMatch(found, one, line);
      };
      check("rabbitmq-delay ", [/\bencode\b/, /\bgateway\b/, /\bcompletion\b/], [/--forward/]);
      check("rabbitmq-delay store ", [/\brun\b/, /\blist\b/], [/\bencode\b/]);
      check("rabbitmq-delay gateway run --", [/--forward/, /--delay-rules/], [/--destination/]);
      check("rabbitmq-delay gateway run --delay-rules ", [/\bstrict\b/, /\bplugin\b/], [/--forward/]);
      check("rabbitmq-delay gateway run --network netw", [/network\.json/]);
      check("rabbitmq-delay completion ", [/\bfish\b/]);
    });
  }

  // What a person sees who presses the tab key: with readline, spaces in names, folders and an = within a word.
  it("bash completes a file with a space, a folder, a file without an option, and a value after =", () => {
    const script = join(folder, "script.readline");
    writeFileSync(script, execFileSync(process.execPath, [COMMAND, "completion", "bash"]));
    const files = join(folder, "files");
    mkdirSync(join(files, "folder"), { recursive: true });
    for (const name of ["my network.json", "folder/inside.json"]) writeFileSync(join(files, name), "{}");
    const typed = (line: string): string =>
      execFileSync("python3", [join(root, "test", "support", "pressTab.py"), script, line], {
        cwd: files,
        encoding: "utf8",
        timeout: 30_000,
      });
    assert.equal(
      typed("rabbitmq-delay gateway run --network my"),
      "rabbitmq-delay gateway run --network my\\ network.json ",
    );
    assert.equal(typed("rabbitmq-delay gateway run --network fol"), "rabbitmq-delay gateway run --network folder/");
    assert.equal(typed("rabbitmq-delay review folder/in"), "rabbitmq-delay review folder/inside.json ");
    assert.equal(
      typed("rabbitmq-delay gateway run --delay-rules=pl"),
      "rabbitmq-delay gateway run --delay-rules=plugin ",
    );
    assert.equal(
      typed("rabbitmq-delay gateway run --delay-rules=s"),
      "rabbitmq-delay gateway run --delay-rules=strict ",
    );
  });

  it("is tried with each shell that the tests' preparation looks for", () => {
    assert.deepEqual(Object.keys(askers), shells);
  });

  it("names the shells that there are", () => {
    assert.throws(
      () => execFileSync(process.execPath, [COMMAND, "completion", "csh"], { stdio: "pipe" }),
      ({ stderr, status }: { stderr: Buffer; status: number }) =>
        status === 2 && /Allowed choices are bash, zsh, fish/.test(stderr.toString()),
    );
  });
});
