import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCached } from "./cache";
import { goBuild } from "./goBuild";
import { root } from "./paths";
import { run } from "./run";
import { versions } from "./versions";

/** The committed SDKs, a folder a language. */
export const sdkFolder = join(root, "sdk");

/** What stands beside generated files without being generated: Go's module. */
export const KEPT = ["go/rabbitmqdelay/go.mod", "go/rabbitmqdelay/go.sum"];

/** Writes the SDKs of the plugin's schema into an empty folder. */
export async function generateSdks(folder: string, progress: (line: string) => void): Promise<void> {
  const name = "pulumi-sdks";
  const source = readFileSync(join(root, "toolchain", "go", name, "main.go"));
  const sum = createHash("sha256").update(source).digest("hex").slice(0, 16);
  const build = {
    name: "build from Go modules",
    fill: (target: string, show: (line: string) => void) =>
      goBuild({ module: name, package: "." }, join(target, name), show),
  };
  const program = join(await getCached(`${name}-${versions.pulumi}-${sum}`, [build], progress), name);
  await run(program, [join(root, "plugin", "schema.json"), folder]);
  // A Go package's folder is called what programs call it.
  renameSync(join(folder, "go"), join(folder, "rabbitmqdelay"));
  cpSync(join(folder, "rabbitmqdelay"), join(folder, "go", "rabbitmqdelay"), { recursive: true });
  rmSync(join(folder, "rabbitmqdelay"), { recursive: true });
  // pyproject.toml names it, and pip builds no package without it.
  cpSync(join(folder, "python", "pulumi_rabbitmq_delay", "README.md"), join(folder, "python", "README.md"));
}

/** Writes the committed SDKs anew; a file that is no longer generated goes. */
export async function writeSdks(progress: (line: string) => void): Promise<void> {
  const made = mkdtempSync(join(tmpdir(), "rabbitmq-delay-sdks-"));
  try {
    await generateSdks(made, progress);
    for (const file of KEPT) if (existsSync(join(sdkFolder, file))) cpSync(join(sdkFolder, file), join(made, file));
    for (const language of readdirSync(made)) {
      rmSync(join(sdkFolder, language), { recursive: true, force: true });
      cpSync(join(made, language), join(sdkFolder, language), { recursive: true });
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
