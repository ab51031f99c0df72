import { cpSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { cacheFolder, root } from "../paths";
import { hasCommand, run } from "../run";
import type { Release, ReleasePart, Use } from "./artifact";
import { checkKey, copyEncodeProgram } from "./programs";
import { inScratch } from "./scratch";

const MOST_KIB = 100;
const JAVADOC_KIB = 1024;
/** What the jar needs, by the names of the files. */
const NEEDED = /^(amqp-client|jackson-core|slf4j-api)-[\d.]+\.jar$/;
/** Maven's own folder of libraries, kept between runs. */
const repository = join(cacheFolder, "maven");

/** The publisher for Java, with what a repository wants beside it. */
export function javaPart(version: string): ReleasePart {
  const name = `rabbitmq-delay-${version}`;
  const artifacts = [
    { file: `${name}.jar`, mostKiB: MOST_KIB, use: jarUse(`${name}.jar`, fileInFolder) },
    { file: `${name}-sources.jar`, mostKiB: MOST_KIB, use: "only made: for editors" },
    { file: `${name}-javadoc.jar`, mostKiB: JAVADOC_KIB, isWithoutLicence: true, use: "only made: for editors" },
  ];
  const make = ({ folder }: Release): Promise<void> =>
    inScratch(async (scratch) => {
      cpSync(join(root, "clients", "java"), scratch, {
        recursive: true,
        filter: (path) => basename(path) !== "target",
      });
      await runMaven(["-P", "release", "-DskipTests", "package"], scratch);
      for (const { file } of artifacts) cpSync(join(scratch, "target", file), join(folder, file));
    });
  return { title: "Java package", artifacts, make, missing };
}

/** How the jar is tried out once it is part of a published release. @param fetchAsset gets a file of that release */
export function publishedJarUse(version: string, fetchAsset: AssetFetch): Use {
  const use = jarUse(`rabbitmq-delay-${version}.jar`, fetchAsset);
  const install = async (folder: string, release: Release): Promise<void> => {
    // Maven fetches what the jar needs.
    await inScratch(async (scratch) => {
      cpSync(join(root, "clients", "java"), scratch, { recursive: true });
      await runMaven(["compile"], scratch);
    });
    await use.install(folder, release);
  };
  return { ...use, mostSeconds: 180, install };
}

/** Has a file of the release come to lie in a folder. */
type AssetFetch = (file: string, folder: string, release: Release) => Promise<void>;

const fileInFolder: AssetFetch = async (file, folder, release) =>
  cpSync(join(release.folder, file), join(folder, file));

async function runMaven(args: string[], cwd: string): Promise<void> {
  const flags = ["--batch-mode", "--no-transfer-progress", "--strict-checksums", `-Dmaven.repo.local=${repository}`];
  await run("mvn", [...flags, ...args], { cwd });
}

async function missing(): Promise<string | undefined> {
  for (const command of ["javac", "mvn"]) if (!(await hasCommand(command))) return command;
  return undefined;
}

function jarUse(file: string, get: AssetFetch): Use {
  return {
    mostSeconds: 30,
    install: async (folder, release) => {
      await get(file, folder, release);
      const libraries = readdirSync(repository, { recursive: true, encoding: "utf8" });
      for (const path of libraries.filter((one) => NEEDED.test(basename(one)))) {
        cpSync(join(repository, path), join(folder, basename(path)));
      }
    },
    run: async (folder) => {
      copyEncodeProgram("java", folder);
      await run("javac", ["-cp", "*", "Encode.java"], { cwd: folder });
      checkKey(await run("java", ["-cp", "*:.", "Encode"], { cwd: folder }));
      return "javac against the jar; the program encodes a delay";
    },
  };
}
