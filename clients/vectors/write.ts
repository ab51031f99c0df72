import { writeFileSync } from "node:fs";
import { vectorsText } from "./file";

// Writes them anew; a test tells when they are stale.
writeFileSync("clients/vectors.json", vectorsText());
