import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import pWaitFor from "p-wait-for";
import { findEngine } from "../engine";
import { interrupted } from "../interruption";
import type { Release, Use } from "./artifact";
import { publishedChecksumsUse } from "./checksumsPart";
import { publishedGoUses } from "./goPart";
import { publishedJarUse } from "./javaPart";
import { publishedNodeSdk } from "./nodeSdkPart";
import { publishedPackages } from "./npmPackages";
import { useOf } from "./npmUses";
import { publishedPluginUse } from "./pluginPart";
import { publishedPythonSdkUse, publishedPythonUse } from "./pythonPart";
import { fetchReleaseAsset, releaseAddress } from "./releaseAssets";
import { withBroker } from "./releaseBroker";
import { releaseVersion } from "./releaseVersion";
import { tableOf } from "./table";
import { Trial, tryUse } from "./trial";

/** How long a registry may take until it has what was published. */
const WAIT = { interval: 5000, timeout: 300_000 };

/**
 * Installs what was published into empty folders and uses it there, as the dry run does with what is not published yet.
 * @throws Error when something went wrong, after all was tried
 */
export async function verifyPublished(progress: (line: string) => void): Promise<void> {
  const version = releaseVersion();
  const engine = await findEngine(progress);
  const trials: Trial[] = [];
  await withBroker(progress, async (broker) => {
    const release = { version, folder: "", engine, broker, progress };
    for (const [name, use] of publishedUses(version)) trials.push(await tryUse(name, use, release));
  });
  console.log(`\n${tableOf(trials)}`);
  const count = trials.filter(({ failure }) => failure !== undefined).length;
  if (count > 0) throw new Error(`${count} of ${trials.length} published packages failed`);
}

/**
 * What a release has published, by the names under which it is installed.
 * @param address of the release's files
 */
export function publishedUses(version: string, address = releaseAddress(version)): [name: string, use: Use][] {
  const specOf = ({ name }: { name: string }): string => `${name}@${version}`;
  const fetchAsset = (file: string, folder: string): Promise<void> => fetchReleaseAsset(address, file, folder);
  const sdk = publishedNodeSdk();
  const uses: [string, Use][] = [
    ...publishedPackages().map((one): [string, Use] => [specOf(one), useOf(one, specOf, { isAskedAnew: true })]),
    [`plugin rabbitmq-delay v${version}`, publishedPluginUse()],
    [sdk.spec, sdk.use],
    [`rabbitmq-delay ${version} for Python`, publishedPythonUse()],
    [`pulumi-rabbitmq-delay ${version} for Python`, publishedPythonSdkUse()],
    ...publishedGoUses().map(([name, use]): [string, Use] => [`${name}@v${version}`, use]),
    [`rabbitmq-delay-${version}.jar`, publishedJarUse(version, fetchAsset)],
    [`SHA256SUMS of v${version}`, publishedChecksumsUse(fetchAsset)],
  ];
  return uses.map(([name, use]) => [name, onceThere(name, use)]);
}

/** The same use, whose installation is tried again until a registry has what was published. */
export function onceThere(name: string, use: Use, wait = WAIT): Use {
  const install = async (folder: string, release: Release): Promise<void> => {
    let refusal = "";
    const isInstalled = (): Promise<boolean> => {
      // What a try that failed has left is in the way of the next.
      for (const left of readdirSync(folder)) rmSync(join(folder, left), { recursive: true, force: true });
      return use.install(folder, release).then(
        () => true,
        (error: Error) => {
          interrupted.throwIfAborted();
          refusal = error.message;
          return false;
        },
      );
    };
    const late = (): never => {
      throw new Error(`${name} could not be installed within ${wait.timeout / 1000} s: ${refusal}`);
    };
    await pWaitFor(isInstalled, {
      interval: wait.interval,
      timeout: { milliseconds: wait.timeout, fallback: late },
    });
  };
  return { ...use, mostSeconds: use.mostSeconds + wait.timeout / 1000, install };
}
