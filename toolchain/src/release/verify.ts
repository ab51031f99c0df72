import pWaitFor from "p-wait-for";
import { findEngine } from "../engine";
import { run } from "../run";
import type { Release, Use } from "./artifact";
import { publishedPackages } from "./npmPackages";
import { useOf } from "./npmUses";
import { publishedPluginUse } from "./pluginPart";
import { publishedPythonUse } from "./pythonPart";
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

/** What a release has published, by the names under which it is installed. */
export function publishedUses(version: string): [name: string, use: Use][] {
  const specOf = ({ name }: { name: string }): string => `${name}@${version}`;
  const packages = publishedPackages().map((one): [string, Use] => {
    const use = useOf(one, specOf);
    const install = async (folder: string, release: Release): Promise<void> => {
      await untilPublished(specOf(one));
      await use.install(folder, release);
    };
    return [specOf(one), { ...use, mostSeconds: use.mostSeconds + WAIT.timeout / 1000, install }];
  });
  return [
    ...packages,
    [`plugin rabbitmq-delay v${version}`, publishedPluginUse()],
    [`rabbitmq-delay ${version} for Python`, publishedPythonUse()],
  ];
}

async function untilPublished(spec: string): Promise<void> {
  const isThere = (): Promise<boolean> =>
    run("npm", ["view", spec, "version", "--prefer-online"]).then(
      (printed) => printed.trim() !== "",
      () => false,
    );
  const late = (): never => {
    throw new Error(`${spec} could not be had within ${WAIT.timeout / 1000} s`);
  };
  await pWaitFor(isThere, { interval: WAIT.interval, timeout: { milliseconds: WAIT.timeout, fallback: late } });
}
