import { existsSync, readFileSync } from "node:fs";
import { Server, createServer } from "node:http";
import { AddressInfo } from "node:net";
import { join } from "node:path";
import { extract } from "tar";
import { fetch } from "undici";
import { localFolder, root } from "../paths";
import { run } from "../run";
import { writeArchive } from "./archive";
import type { Release, ReleasePart, Use } from "./artifact";

const MOST_KIB = 8 * 1024;
/** Pages that readers begin with, and what each of them says. */
const PAGES: [path: string, text: string][] = [
  ["", "rabbitmq-delay"],
  ["start.html", "Getting started"],
  ["clients/python.html", "rabbitmq-delay for Python"],
  ["reference/components.html", "DelayLevelTopology"],
];

/** The documents as a site. */
export function sitePart(version: string): ReleasePart {
  const file = `rabbitmq-delay-docs-${version}.tar.gz`;
  const make = async ({ folder, progress }: Release): Promise<void> => {
    await run("make", ["--no-print-directory", "docs"], { cwd: root, onLine: progress });
    await writeArchive(join(folder, file), join(localFolder, "docs"));
  };
  return {
    title: "Documentation site",
    artifacts: [{ file, mostKiB: MOST_KIB, isWithoutLicence: true, use: siteUse(file) }],
    make,
  };
}

function siteUse(file: string): Use {
  return {
    mostSeconds: 30,
    install: (folder, release) => extract({ file: join(release.folder, file), cwd: folder }),
    run: async (folder) => {
      const server = serve(folder);
      try {
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const { port } = server.address() as AddressInfo;
        for (const [path, text] of PAGES) {
          const answer = await fetch(`http://127.0.0.1:${port}/${path}`);
          const isPage = answer.ok && (await answer.text()).includes(text);
          if (!isPage) throw new Error(`/${path} answers ${answer.status}, without "${text}"`);
        }
      } finally {
        server.close();
      }
      return `unpacked and served; ${PAGES.length} of its pages asked for`;
    },
  };
}

function serve(folder: string): Server {
  return createServer((request, response) => {
    const path = join(folder, request.url === "/" ? "index.html" : (request.url as string));
    response.writeHead(existsSync(path) ? 200 : 404, { connection: "close" });
    response.end(existsSync(path) ? readFileSync(path) : "");
  });
}
