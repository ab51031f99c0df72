import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { getCached } from "../../toolchain/dist/cache";
import { aptGet, isRootOnDebian } from "../../toolchain/dist/debianPackages";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { pythonPackages } from "./pythonPackages";

/** The recipes, each in a folder of its client. */
export const recipesFolder = join(root, "examples", "from-the-plugin");
const quiet = (): void => undefined;

/** How a program is started. */
interface Start {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** A client's recipe in examples/from-the-plugin. */
export interface Recipe {
  /** Its folder there. */
  client: string;
  /** Its program that publishes. */
  file: string;
  /** What starts the program in a copy of the folder; libraries are fetched once. */
  start: (copy: string) => Promise<Start>;
  /** What starts the consumer there, where that is another program, which has to be ready before. */
  startConsumer?: (copy: string) => Promise<Start>;
  /** The longest delay that the client takes. */
  longestMs?: number;
}

const python =
  (file: string, libraries: () => Promise<string>): Recipe["start"] =>
  async () => ({
    command: "python3",
    args: [file],
    env: { PYTHONPATH: await libraries(), PYTHONDONTWRITEBYTECODE: "1" },
  });
const pikaAndAioPika = (): Promise<string> =>
  pythonPackages("pika-1.4.4-aio-pika-10.2.1", join(root, "clients", "python", "tests", "requirements.txt"));
const celery = (): Promise<string> => pythonPackages("celery-5.7.0", join(root, "test", "celery", "requirements.txt"));

/** All of them. */
export const recipes: Recipe[] = [
  { client: "pika", file: "shop.py", start: python("shop.py", pikaAndAioPika) },
  { client: "aio-pika", file: "shop.py", start: python("shop.py", pikaAndAioPika) },
  { client: "celery", file: "send.py", start: python("send.py", celery), startConsumer: startWorker },
  { client: "golevelup", file: "shop.ts", start: startTypeScript },
  { client: "amqp091-go", file: "shop.go", start: startGo },
  { client: "php-amqplib", file: "shop.php", start: startPhp },
  { client: "spring-amqp", file: "Shop.java", start: startJava, longestMs: 2 ** 32 - 1 },
];

async function startWorker(): Promise<Start> {
  const { env } = await python("", celery)("");
  const flags = ["--pool", "solo", "--loglevel", "INFO", "--without-gossip", "--without-mingle", "--without-heartbeat"];
  return { command: "python3", args: ["-m", "celery", "--app", "shop", "worker", ...flags], env };
}

/** Decorators need compiling; Node finds the libraries by the environment. */
async function startTypeScript(copy: string): Promise<Start> {
  const install = {
    name: "npm",
    fill: async (cwd: string): Promise<void> => {
      for (const name of ["package.json", "package-lock.json"])
        copyFileSync(join(recipesFolder, "golevelup", name), join(cwd, name));
      await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd });
    },
  };
  const libraries = await getCached("golevelup-nestjs-rabbitmq-9.0.2", [install], quiet);
  const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022, experimentalDecorators: true };
  const { outputText } = transpileModule(readFileSync(join(copy, "shop.ts"), "utf8"), { compilerOptions });
  writeFileSync(join(copy, "shop.js"), outputText);
  return { command: "node", args: ["shop.js"], env: { NODE_PATH: join(libraries, "node_modules") } };
}

/** The go.sum beside the program has its library's sums; Go keeps the library, and what it has compiled. */
async function startGo(copy: string): Promise<Start> {
  await run("go", ["build", "-mod=readonly", "-o", "shop", "."], { cwd: copy });
  return { command: join(copy, "shop"), args: [] };
}

/** Debian's PHP and library, unpacked; apt-get checks Debian's signatures. */
async function startPhp(): Promise<Start> {
  const download = {
    name: "apt-get",
    fill: async (target: string): Promise<void> => {
      if (!isRootOnDebian()) throw new Error("only root on Debian can do this");
      const archives = join(target, "archives");
      mkdirSync(join(archives, "partial"), { recursive: true });
      await aptGet(["update"], quiet);
      const packages = ["php-cli", "php-mbstring", "php-amqplib"];
      await aptGet(["install", "-y", "--no-install-recommends", "--download-only", ...packages], quiet, {
        settings: [`Dir::Cache::archives=${archives}`],
      });
      for (const name of readdirSync(archives).filter((each) => each.endsWith(".deb")))
        await run("dpkg", ["-x", join(archives, name), target]);
      rmSync(archives, { recursive: true });
    },
  };
  const debian = await getCached(`php-amqplib-debian-${debianRelease()}`, [download], quiet);
  const binary = only(join(debian, "usr", "bin"), /^php\d/);
  const extensions = join(debian, "usr", "lib", "php", only(join(debian, "usr", "lib", "php"), /^\d{8}$/));
  // What PHP needs and this machine did not have is there, too.
  const libraries = readdirSync(join(debian, "usr", "lib"))
    .filter((name) => name.endsWith("-linux-gnu"))
    .map((name) => join(debian, "usr", "lib", name));
  const settings = [`include_path=${join(debian, "usr", "share", "php")}`, `extension_dir=${extensions}`];
  return {
    command: join(debian, "usr", "bin", binary),
    args: [
      "-n",
      ...[...settings, "extension=mbstring", "extension=sockets"].flatMap((each) => ["-d", each]),
      "shop.php",
    ],
    env: { AUTOLOAD: "PhpAmqpLib/autoload.php", LD_LIBRARY_PATH: libraries.join(":") },
  };
}

function debianRelease(): string {
  return /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "unstable";
}

function only(inside: string, pattern: RegExp): string {
  const found = readdirSync(inside).find((name) => pattern.test(name));
  if (found === undefined) throw new Error(`${inside} has nothing like ${pattern}; remove its cached folder`);
  return found;
}

/** Maven resolves the libraries, whose sums are compared here, because it has no file that pins them. */
async function startJava(): Promise<Start> {
  const resolve = {
    name: "Maven",
    fill: async (jars: string): Promise<void> => {
      const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
      await run("mvn", ["-q", "-B", goal, `-DoutputDirectory=${jars}`], { cwd: join(recipesFolder, "spring-amqp") });
      const sums = readdirSync(jars)
        .sort()
        .map(
          (name) =>
            `${createHash("sha256")
              .update(readFileSync(join(jars, name)))
              .digest("hex")}  ${name}\n`,
        );
      if (sums.join("") !== readFileSync(join(root, "test", "fromThePlugin", "spring-amqp.sha256"), "utf8"))
        throw new Error(`other libraries than those of spring-amqp.sha256:\n${sums.join("")}`);
    },
  };
  const jars = await getCached("spring-rabbit-3.2.6", [resolve], quiet);
  return { command: "java", args: ["-cp", join(jars, "*"), "Shop.java"] };
}
