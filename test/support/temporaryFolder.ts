import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "./cleanup";

/** Creates a folder that is removed with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-"));
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
