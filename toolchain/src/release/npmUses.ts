import { cpSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run";
import type { Release, Use } from "./artifact";
import { checkKey, programsFolder } from "./programs";
import { InstallOptions, installPackages, installedOf } from "./npmInstall";
import type { NpmPackage } from "./npmPackages";
import { previewStack } from "./stackPreview";

/** What a service that only publishes has no use for: drivers of databases, a server. */
const NOT_FOR_PUBLISHERS = ["pg", "better-sqlite3", "fastify", "@pulumi/pulumi"];
/** The client library over which a service publishes; the newest that the project's own tests have. */
const AMQPLIB = "amqplib@2.3.1";

/** How a package is tried out. */
interface PackageUse extends InstallOptions {
  mostSeconds: number;
  /** Further packages, as npm takes them. */
  with?: string[];
  run: (folder: string, release: Release) => Promise<string>;
}

const uses: Record<string, PackageUse> = {
  "@rabbitmq-delay/topology": program("topology.js", "encodes a delay, decodes its key"),
  "@rabbitmq-delay/publish": {
    mostSeconds: 60,
    with: [AMQPLIB],
    run: async (folder, release) => {
      const found = installedOf(folder, NOT_FOR_PUBLISHERS);
      if (found.length > 0) throw new Error(`a service that only publishes installs ${found.join(", ")}`);
      await runProgram("publish.js", folder, release);
      return "a service: publishes a delayed message, and it arrives; no database driver, no HTTP server";
    },
  },
  "@rabbitmq-delay/store": {
    ...program("store.js", "opens a store on SQLite, stores a message, lists it"),
    // SQLite's driver fetches a ready build of itself, or compiles itself where it can't.
    scripts: true,
    mostSeconds: 300,
  },
  "@rabbitmq-delay/broker": program("broker.js", "reads the broker's version, and its known faults"),
  "@rabbitmq-delay/review": program("review.js", "reviews a preview that would delete a queue"),
  "@rabbitmq-delay/operate": program("operate.js", "plans the change of a network to enforced matching"),
  "rabbitmq-delay": { mostSeconds: 120, run: runCommand },
  "pulumi-rabbitmq-delay": {
    mostSeconds: 180,
    run: async (folder, release) => {
      cpSync(join(programsFolder, "stack"), folder, { recursive: true });
      const created = await previewStack(folder, release);
      return `a stack: pulumi preview, ${created} to create`;
    },
  },
};

/**
 * How a published package is tried out.
 * @param specOf what npm takes for a package: its tarball, or its name and version
 * @param options how it is installed
 */
export function useOf(
  one: NpmPackage,
  specOf: (other: NpmPackage, release: Release) => string,
  options: Pick<InstallOptions, "isAskedAnew"> = {},
): Use {
  const use = uses[one.name];
  if (use === undefined)
    throw new Error(`${one.name} is published, and toolchain/src/release/npmUses.ts does not use it`);
  return {
    mostSeconds: use.mostSeconds,
    install: (folder, release) => {
      const own = [one, ...one.needs].map((other) => specOf(other, release));
      return installPackages(folder, [...own, ...(use.with ?? [])], { ...options, scripts: use.scripts });
    },
    run: use.run,
  };
}

function program(file: string, what: string): PackageUse {
  return {
    mostSeconds: 60,
    run: async (folder, release) => {
      await runProgram(file, folder, release);
      return what;
    },
  };
}

/** Runs a program of toolchain/release/npm in a folder, and with what is installed there. */
async function runProgram(file: string, folder: string, { broker }: Release): Promise<void> {
  cpSync(join(programsFolder, "npm", file), join(folder, file));
  const env = { ...process.env, RABBITMQ_URL: broker.amqpUrl, RABBITMQ_MANAGEMENT_URL: broker.managementUrl };
  const output = await run(process.execPath, [file], { cwd: folder, env });
  if (output.trim() !== "ok") throw new Error(`${file} printed ${output.trim()} instead of ok`);
}

async function runCommand(folder: string, { version }: Release): Promise<string> {
  const command = (...args: string[]): Promise<string> =>
    run("npx", ["--no-install", "rabbitmq-delay", ...args], { cwd: folder });
  const printed = (await command("--version")).trim();
  if (printed !== version) throw new Error(`rabbitmq-delay --version printed ${printed} instead of ${version}`);
  const encode = ["encode", "--preset", "nservicebus", "--delay", "10s", "--destination", "Sales"];
  const { routingKey } = JSON.parse(await command(...encode, "--json")) as { routingKey: string };
  checkKey(routingKey);
  return `npx ${["rabbitmq-delay", ...encode].join(" ")}`;
}
