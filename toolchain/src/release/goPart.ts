import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { extract } from "tar";
import { root } from "../paths";
import { hasCommand, run } from "../run";
import { writeArchive } from "./archive";
import type { Artifact, Release, ReleasePart, Use } from "./artifact";
import { checkKey, copyEncodeProgram } from "./programs";
import { inScratch } from "./scratch";

const SDK_FOLDER = "sdk/go/rabbitmqdelay";
const REPOSITORY = "github.com/rabbitmq-delay/rabbitmq-delay";
const SDK = `${REPOSITORY}/${SDK_FOLDER}`;
const CLIENT_KIB = 60;
const SDK_KIB = 200;

/** Go's modules: the publisher, and the SDK of the components. */
export function goPart(version: string): ReleasePart {
  const [client, sdk] = [`rabbitmq-delay-go-client-${version}.tar.gz`, `rabbitmq-delay-go-sdk-${version}.zip`];
  const artifacts: Artifact[] = [
    { file: client, mostKiB: CLIENT_KIB, use: clientUse(client) },
    { file: sdk, mostKiB: SDK_KIB, use: sdkUse(sdk) },
  ];
  const make = async (release: Release): Promise<void> => {
    const isSource = (path: string): boolean => !path.endsWith("_test.go");
    await writeArchive(join(release.folder, client), join(root, "clients", "go"), isSource);
    await writeModule(join(release.folder, sdk), release);
  };
  const missing = async (): Promise<string | undefined> => ((await hasCommand("go")) ? undefined : "go");
  return { title: "Go modules", artifacts, make, missing };
}

/** Has Go make the SDK's module out of a tag, as it does for whoever asks for the version. */
function writeModule(file: string, { version }: Release): Promise<void> {
  return inScratch(async (scratch) => {
    const clone = join(scratch, "clone");
    await run("git", ["clone", "--quiet", "--no-hardlinks", root, clone]);
    await run("git", ["tag", `${SDK_FOLDER}/v${version}`], { cwd: clone });
    const env = {
      ...goEnvironment(join(scratch, "modules")),
      GOPROXY: "direct",
      // The repository is the clone.
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: `url.file://${clone}.insteadOf`,
      GIT_CONFIG_VALUE_0: `https://${REPOSITORY}`,
    };
    const printed = await run("go", ["mod", "download", "-json", `${SDK}@v${version}`], { cwd: scratch, env });
    const { Zip } = JSON.parse(printed.slice(printed.indexOf("{"))) as { Zip: string };
    cpSync(Zip, file);
  });
}

/** Go with a cache of modules of its own, because a version that is not published yet must not stay in the user's. */
function goEnvironment(modules: string): NodeJS.ProcessEnv {
  return { ...process.env, GOMODCACHE: modules, GOFLAGS: "-mod=mod -modcacherw", GONOSUMDB: SDK, GOWORK: "off" };
}

function clientUse(file: string): Use {
  return {
    mostSeconds: 60,
    install: async (folder, release) => {
      mkdirSync(join(folder, "rabbitmqdelay"));
      await extract({ file: join(release.folder, file), cwd: join(folder, "rabbitmqdelay") });
      const module = "rabbitmqdelay";
      await run("go", ["mod", "init", "example"], { cwd: folder });
      const edits = [`-require=${module}@v0.0.0`, `-replace=${module}=./${module}`];
      await run("go", ["mod", "edit", ...edits], { cwd: folder });
      copyEncodeProgram("go", folder);
      await run("go", ["mod", "tidy"], { cwd: folder });
    },
    run: async (folder) => {
      await run("go", ["build", "-o", "program", "."], { cwd: folder });
      checkKey(await run(join(folder, "program"), [], { cwd: folder }));
      return "go build with a replace; the program encodes a delay";
    },
  };
}

function sdkUse(file: string): Use {
  return {
    mostSeconds: 180,
    install: async (folder, release) => {
      const proxy = join(folder, "proxy");
      writeProxy(proxy, join(release.folder, file), release.version);
      const env = await environmentWithProxy(folder, proxy);
      cpSync(join(root, "examples", "go", "main.go"), join(folder, "main.go"));
      await run("go", ["mod", "init", "example"], { cwd: folder, env });
      await run("go", ["get", `${SDK}@v${release.version}`], { cwd: folder, env });
    },
    run: async (folder) => {
      const env = await environmentWithProxy(folder, join(folder, "proxy"));
      await run("go", ["build", "-trimpath", "-o", "program", "."], { cwd: folder, env });
      return "go get from a module proxy; go build of examples/go";
    },
  };
}

/** The files of a module proxy that has one version of the SDK. */
function writeProxy(proxy: string, zip: string, version: string): void {
  const versions = join(proxy, ...SDK.split("/"), "@v");
  mkdirSync(versions, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(versions, name), text);
  write("list", `v${version}\n`);
  write(`v${version}.info`, JSON.stringify({ Version: `v${version}`, Time: "2026-01-01T00:00:00Z" }));
  write(`v${version}.mod`, readFileSync(join(root, SDK_FOLDER, "go.mod"), "utf8"));
  cpSync(zip, join(versions, `v${version}.zip`));
}

/** What this machine has fetched before is taken from there. */
async function environmentWithProxy(folder: string, proxy: string): Promise<NodeJS.ProcessEnv> {
  const [cache = "", usual = ""] = (await run("go", ["env", "GOMODCACHE", "GOPROXY"])).trim().split("\n");
  const GOPROXY = [`file://${proxy}`, `file://${join(cache, "cache", "download")}`, usual].join(",");
  return { ...goEnvironment(join(folder, "modules")), GOPROXY };
}
