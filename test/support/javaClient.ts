import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { hasCommand, run } from "../../toolchain/dist/run";
import { cachedLibraries } from "./publishHelpers";

const client = join(root, "clients", "java");

/** Whether this machine has a JDK and Maven. */
export async function hasMaven(): Promise<boolean> {
  return (await hasCommand("javac")) && (await hasCommand("mvn"));
}

/**
 * Runs Maven's tests in clients/java, with the libraries and plugins whose versions its pom.xml has; without variables, those that need no
 * broker.
 */
export async function runMavenTests(args: string[] = [], environment: Record<string, string> = {}): Promise<string> {
  const test = (repository: string, more: string[], variables: Record<string, string>): Promise<string> =>
    run("mvn", ["--batch-mode", "--no-transfer-progress", `-Dmaven.repo.local=${repository}`, ...more, "test"], {
      cwd: client,
      env: { ...process.env, RABBITMQ_URL: "", ...variables },
    });
  const repository = await cachedLibraries("maven", join(client, "pom.xml"), async (folder) => {
    // Only tests that run fetch all that running them takes.
    await test(folder, ["--strict-checksums"], {});
  });
  return test(repository, ["--offline", ...args], environment);
}
