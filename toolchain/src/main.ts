import { rmSync } from "node:fs";
import { newestInstallation } from "./brokerInstallations";
import { isRootOnDebian } from "./debianPackages";
import { findEngine } from "./engine";
import { guard, interrupted } from "./interruption";
import { removeBroker, stopBroker } from "./localBroker";
import { findPythonHost, findYamlHost } from "./languageHosts";
import { findKubernetesPlugins } from "./kubernetesPlugins";
import { findKubernetes } from "./kubernetesPrograms";
import { findNetworkTools } from "./networkTools";
import { localFolder } from "./paths";
import { postgresInstallation } from "./postgresServer";
import { writeSdks } from "./pulumiSdks";
import { dryRun } from "./release/dryRun";
import { releaseNotes } from "./release/releaseNotes";
import { releaseVersion } from "./release/releaseVersion";
import { verifyPublished } from "./release/verify";
import { findShells } from "./shells";
import { up } from "./up";

/** Shows at most one line every two seconds if lines add up, as in a log. */
function throttle(show: (line: string) => void): (line: string) => void {
  let last = 0;
  return (line) => {
    if (!process.stdout.isTTY && Date.now() - last < 2000) return;
    last = Date.now();
    show(line);
  };
}

async function down(): Promise<void> {
  console.log(
    (await stopBroker()) ? "The broker is stopped; its data stays until make clean." : "No broker was running.",
  );
}

async function clean(): Promise<void> {
  await stopBroker();
  await removeBroker();
  rmSync(localFolder, { recursive: true, force: true });
}

/** Programs and servers that tests need beyond `up`, by the tier that uses them first. */
const preparations = {
  test: [
    findEngine,
    ...(isRootOnDebian() ? [newestInstallation] : []),
    postgresInstallation,
    findShells,
    findKubernetesPlugins,
  ],
  clients: [findYamlHost, findPythonHost, findNetworkTools, findKubernetes],
};

/** Prepares what the tests of a tier need, so that their own output starts with tests. */
async function prepareTests(tier = "test"): Promise<void> {
  const line = throttle((text) => console.log(text));
  const parts = [...preparations.test, ...(tier === "clients" ? preparations.clients : [])];
  for (const prepare of parts) {
    // If something can't be had here, the tests that need it say so.
    await prepare(line).catch((error: Error) => {
      interrupted.throwIfAborted();
      console.log(error.message);
    });
  }
}

/** Writes the SDKs for other languages anew. */
const sdks = (): Promise<void> => writeSdks(throttle((text) => console.log(text)));

/** Makes what a release publishes, and tries it out. */
const releaseDryRun = (): Promise<void> => dryRun(throttle((text) => console.log(text)));

/** Tries out what a release has published. */
const releaseVerify = (): Promise<void> => verifyPublished(throttle((text) => console.log(text)));

/** Prints what the changelog says of this version. */
async function printReleaseNotes(): Promise<void> {
  console.log(releaseNotes(releaseVersion()));
}

const commands: Record<string, (argument?: string) => Promise<void>> = {
  up,
  down,
  clean,
  "prepare-tests": prepareTests,
  sdks,
  "release-dry-run": releaseDryRun,
  "release-verify": releaseVerify,
  "release-notes": printReleaseNotes,
};

const command = commands[process.argv[2] ?? ""];
if (command === undefined) {
  console.error(`usage: node toolchain/dist/main.js ${Object.keys(commands).join("|")}`);
  process.exitCode = 2;
} else {
  guard(() => command(process.argv[3])).catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
