import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { getCached } from "../cache";
import { findPythonHost } from "../languageHosts";
import { root } from "../paths";
import { hasCommand, run } from "../run";
import type { Artifact, Release, ReleasePart, Use } from "./artifact";
import { checkKey, copyEncodeProgram, programsFolder } from "./programs";
import { PluginInstall, installOwnPlugin, installPublishedPlugin } from "./pluginPart";
import { inScratch } from "./scratch";
import { previewStack } from "./stackPreview";

const CLIENT_KIB = 60;
const SDK_KIB = 200;
/** One time for all files, so that the same sources make the same wheel: 2026-01-01. */
const SOURCE_DATE_EPOCH = "1767225600";

/** Python's packages: the publisher, and the SDK of the components. */
export function pythonPart(version: string): ReleasePart {
  const [client, sdk] = [`rabbitmq_delay-${version}`, `pulumi_rabbitmq_delay-${version}`];
  const artifacts: Artifact[] = [
    { file: `${client}-py3-none-any.whl`, mostKiB: CLIENT_KIB, use: clientUse(fileOf(`${client}-py3-none-any.whl`)) },
    { file: `${client}.tar.gz`, mostKiB: CLIENT_KIB, use: clientUse(fileOf(`${client}.tar.gz`)) },
    {
      file: `${sdk}-py3-none-any.whl`,
      mostKiB: SDK_KIB,
      use: sdkUse(fileOf(`${sdk}-py3-none-any.whl`), installOwnPlugin),
    },
    { file: `${sdk}.tar.gz`, mostKiB: SDK_KIB, use: sdkUse(fileOf(`${sdk}.tar.gz`), installOwnPlugin) },
  ];
  const missing = async (): Promise<string | undefined> => ((await hasCommand("python3")) ? undefined : "python3");
  return { title: "Python packages", artifacts, make, missing };
}

/** What pip installs: a file, or a name with a version. */
type Requirement = (release: Release) => string;

function fileOf(file: string): Requirement {
  return ({ folder }) => join(folder, file);
}

/** How the publisher is tried out once it is published. */
export function publishedPythonUse(): Use {
  return clientUse(({ version }) => `rabbitmq-delay==${version}`);
}

/** How the SDK is tried out once it is published. */
export function publishedPythonSdkUse(): Use {
  return sdkUse(({ version }) => `pulumi-rabbitmq-delay==${version}`, installPublishedPlugin);
}

/** Builds a source package, and the wheel from that. */
async function make({ folder, progress }: Release): Promise<void> {
  const tools = await buildTools(progress);
  const env = { ...process.env, PYTHONPATH: tools, PYTHONDONTWRITEBYTECODE: "1", SOURCE_DATE_EPOCH };
  for (const source of ["clients/python", "sdk/python"]) {
    await inScratch(async (scratch) => {
      // A build leaves files beside its sources.
      const isSource = (path: string): boolean => !/^(build|tests|.*\.egg-info|__pycache__)$/.test(basename(path));
      cpSync(join(root, source), join(scratch, "source"), { recursive: true, filter: isSource });
      // Setuptools takes the licence that lies beside pyproject.toml; what is generated has none there.
      cpSync(join(root, "LICENSE"), join(scratch, "source", "LICENSE"));
      const args = ["-m", "build", "--no-isolation", "--outdir", folder, join(scratch, "source")];
      await run("python3", args, { cwd: scratch, env });
    });
  }
}

/** A folder for PYTHONPATH with what builds packages, as toolchain/python pins it. */
function buildTools(progress: (line: string) => void): Promise<string> {
  const requirements = join(root, "toolchain", "python", "build-requirements.txt");
  const pins = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const install = {
    name: "pip",
    fill: async (folder: string): Promise<void> => {
      const flags = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"];
      await run("python3", ["-m", "pip", "install", ...flags, "--target", folder, "--requirement", requirements]);
    },
  };
  return getCached(`python-build-${pins}`, [install], progress);
}

/** Installs a package with what it needs, as its users do. */
async function pipInstall(folder: string, requirement: string): Promise<void> {
  await run("python3", ["-m", "venv", join(folder, "venv")]);
  const flags = ["--quiet", "--disable-pip-version-check"];
  await run(pythonOf(folder), ["-m", "pip", "install", ...flags, requirement], { cwd: folder });
}

function pythonOf(folder: string): string {
  const windows = join(folder, "venv", "Scripts", "python.exe");
  return existsSync(windows) ? windows : join(folder, "venv", "bin", "python");
}

function clientUse(requirementOf: Requirement): Use {
  return {
    mostSeconds: 90,
    install: (folder, release) => pipInstall(folder, requirementOf(release)),
    run: async (folder) => {
      copyEncodeProgram("python", folder);
      checkKey(await run(pythonOf(folder), ["encode.py"], { cwd: folder }));
      return "pip install; python encode.py, which encodes a delay";
    },
  };
}

function sdkUse(requirementOf: Requirement, installThePlugin: PluginInstall): Use {
  return {
    mostSeconds: 180,
    install: (folder, release) => pipInstall(folder, requirementOf(release)),
    run: async (folder, release) => {
      const [home, program] = [join(folder, "home"), join(folder, "program")];
      await installThePlugin(home, release);
      mkdirSync(program);
      cpSync(join(programsFolder, "python-sdk"), program, { recursive: true });
      const host = await findPythonHost(release.progress);
      const path = [join(pythonOf(folder), ".."), host.folder];
      // Nothing but what was installed.
      const variables = { VIRTUAL_ENV: join(folder, "venv"), PYTHONPATH: "", PYTHONDONTWRITEBYTECODE: "1" };
      const created = await previewStack(program, release, { home, path, variables });
      return `pip install; pulumi preview of a Python program, ${created} to create`;
    },
  };
}
