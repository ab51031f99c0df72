import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { hasCommand, run } from "../run";
import type { Artifact, Release, ReleasePart, Use } from "./artifact";
import { checkKey, copyEncodeProgram } from "./programs";
import { inScratch } from "./scratch";

const PROGRAM = "program";
const REPOSITORY = "github.com/rabbitmq-delay/rabbitmq-delay";

/** A module in a folder of the repository, whose tag is FOLDER/vVERSION. */
interface GoModule {
  folder: string;
  /** Its part of the archive's name. */
  part: string;
  mostKiB: number;
  mostSeconds: number;
  /** Puts a program into a folder. */
  addProgram: (folder: string) => void;
  /** Runs the built program in its folder, if it needs nothing else. @returns what was run, for the table */
  check: (folder: string) => Promise<string>;
}

const modules: GoModule[] = [
  {
    folder: "clients/go",
    part: "client",
    mostKiB: 60,
    mostSeconds: 60,
    addProgram: (folder) => copyEncodeProgram("go", folder),
    check: async (folder) => {
      checkKey(await run(join(folder, PROGRAM), [], { cwd: folder }));
      return "go get; go build; the program encodes a delay";
    },
  },
  {
    folder: "sdk/go/rabbitmqdelay",
    part: "sdk",
    mostKiB: 200,
    mostSeconds: 180,
    addProgram: (folder) => cpSync(join(root, "examples", "go", "main.go"), join(folder, "main.go")),
    check: () => Promise.resolve("go get; go build of examples/go"),
  },
];

const nameOf = ({ folder }: GoModule): string => `${REPOSITORY}/${folder}`;

/** Go's modules: the publisher, and the SDK of the components. */
export function goPart(version: string): ReleasePart {
  const made = modules.map((module) => ({ module, file: `rabbitmq-delay-go-${module.part}-${version}.zip` }));
  const artifacts: Artifact[] = made.map(({ module, file }) => ({
    file,
    mostKiB: module.mostKiB,
    use: useOf(module, (folder, release) =>
      environmentWithProxy(module, folder, join(release.folder, file), release.version),
    ),
  }));
  const make = async (release: Release): Promise<void> => {
    for (const { module, file } of made) await writeModule(module, join(release.folder, file), release);
  };
  const missing = async (): Promise<string | undefined> => ((await hasCommand("go")) ? undefined : "go");
  return { title: "Go modules", artifacts, make, missing };
}

/** The modules by their names, and how each is tried out once its tag is there: Go fetches it as it does for everybody. */
export function publishedGoUses(): [name: string, use: Use][] {
  return modules.map((module) => [
    nameOf(module),
    useOf(module, (folder) => Promise.resolve(goEnvironment(join(folder, "modules")))),
  ]);
}

/** Has Go make a module out of a tag, as it does for whoever asks for the version. */
function writeModule(module: GoModule, file: string, { version }: Release): Promise<void> {
  return inScratch(async (scratch) => {
    const clone = join(scratch, "clone");
    await run("git", ["clone", "--quiet", "--no-hardlinks", root, clone]);
    await run("git", ["tag", `${module.folder}/v${version}`], { cwd: clone });
    const env = {
      ...goEnvironment(join(scratch, "modules")),
      GOPROXY: "direct",
      // The repository is the clone.
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: `url.file://${clone}.insteadOf`,
      GIT_CONFIG_VALUE_0: `https://${REPOSITORY}`,
    };
    const printed = await run("go", ["mod", "download", "-json", `${nameOf(module)}@v${version}`], {
      cwd: scratch,
      env,
    });
    const { Zip } = JSON.parse(printed.slice(printed.indexOf("{"))) as { Zip: string };
    cpSync(Zip, file);
  });
}

/** Go with a cache of modules of its own, because a version that is not published yet must not stay in the user's. */
function goEnvironment(modules: string): NodeJS.ProcessEnv {
  return { ...process.env, GOMODCACHE: modules, GOFLAGS: "-mod=mod -modcacherw", GONOSUMDB: REPOSITORY, GOWORK: "off" };
}

/** @param environmentOf the environment in which Go finds the module, for a folder */
function useOf(module: GoModule, environmentOf: (folder: string, release: Release) => Promise<NodeJS.ProcessEnv>): Use {
  return {
    mostSeconds: module.mostSeconds,
    install: async (folder, release) => {
      const env = await environmentOf(folder, release);
      module.addProgram(folder);
      await run("go", ["mod", "init", "example"], { cwd: folder, env });
      await run("go", ["get", `${nameOf(module)}@v${release.version}`], { cwd: folder, env });
    },
    run: async (folder, release) => {
      const env = await environmentOf(folder, release);
      await run("go", ["build", "-trimpath", "-o", PROGRAM, "."], { cwd: folder, env });
      return module.check(folder);
    },
  };
}

/** The files of a module proxy that has one version of a module. */
function writeProxy(module: GoModule, proxy: string, zip: string, version: string): void {
  const versions = join(proxy, ...nameOf(module).split("/"), "@v");
  mkdirSync(versions, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(versions, name), text);
  write("list", `v${version}\n`);
  write(`v${version}.info`, JSON.stringify({ Version: `v${version}`, Time: "2026-01-01T00:00:00Z" }));
  write(`v${version}.mod`, readFileSync(join(root, module.folder, "go.mod"), "utf8"));
  cpSync(zip, join(versions, `v${version}.zip`));
}

/** A proxy of the module's own comes first; what this machine has fetched before is taken from there. */
async function environmentWithProxy(
  module: GoModule,
  folder: string,
  zip: string,
  version: string,
): Promise<NodeJS.ProcessEnv> {
  const proxy = join(folder, "proxy");
  writeProxy(module, proxy, zip, version);
  const [cache = "", usual = ""] = (await run("go", ["env", "GOMODCACHE", "GOPROXY"])).trim().split("\n");
  const GOPROXY = [`file://${proxy}`, `file://${join(cache, "cache", "download")}`, usual].join(",");
  return { ...goEnvironment(join(folder, "modules")), GOPROXY };
}
