import { join } from "node:path";
import type { Artifact, ReleasePart } from "./artifact";
import { packPackages, publishedPackages } from "./npmPackages";
import { useOf } from "./npmUses";

/** How large a package may be; the largest, the store, has 130. */
const MOST_KIB = 200;

/** The packages of npm. */
export function npmPart(): ReleasePart {
  const packages = publishedPackages();
  const artifacts = packages.map((one): Artifact => ({
    file: one.tarball,
    mostKiB: MOST_KIB,
    use: useOf(one, ({ tarball }, { folder }) => join(folder, tarball)),
  }));
  return { title: "npm packages", artifacts, make: ({ folder }) => packPackages(packages, folder) };
}
