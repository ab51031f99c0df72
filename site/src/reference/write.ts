import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { referencePages } from "./files";

// Writes them anew; a test tells when they are stale.
void referencePages(process.cwd()).then((files) => {
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
});
