import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { extract } from "tar";
import { root } from "../../toolchain/dist/paths";
import { packPackages, publishedPackages } from "../../toolchain/dist/release/npmPackages";

const run = promisify(execFile);

/** Compilers, each with the settings that it no longer takes. */
const compilers = {
  "TypeScript 5.9": { program: "tsc", refused: {} as Record<string, RegExp> },
  "TypeScript 7": {
    program: "tsgo",
    refused: {
      pulumi: /^error TS5108: Option 'moduleResolution=node10' has been removed/,
      nest: /^error TS5102: Option 'baseUrl' has been removed/,
    } as Record<string, RegExp>,
  },
};

/** Libraries of a program that `pulumi new` makes, and of a service. Nobody has to install @pulumi/kubernetes. */
const LIBRARIES = ["@pulumi/pulumi", "@pulumi/rabbitmq", "@pulumi/random", "@types/node", "@types/amqplib", "amqplib"];

// The settings in ./compilers are those that tools write; programs by `pulumi new` had 64 errors, 63 of them in zod's declarations.
describe("a stack and a service, with the packages as npm has them", () => {
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-"));
    const all = publishedPackages();
    const wanted = all.filter(({ name }) => ["pulumi-rabbitmq-delay", "@rabbitmq-delay/publish"].includes(name));
    const packages = [...new Set(wanted.flatMap((one) => [one, ...one.needs]))];
    await packPackages(packages, folder);
    for (const { name, tarball } of packages) {
      const cwd = join(folder, "node_modules", name);
      mkdirSync(cwd, { recursive: true });
      await extract({ file: join(folder, tarball), cwd, strip: 1 });
    }
    for (const library of LIBRARIES) {
      mkdirSync(join(folder, "node_modules", library, ".."), { recursive: true });
      symlinkSync(join(root, "node_modules", library), join(folder, "node_modules", library));
    }
    cpSync(join(root, "test/program/compilers"), folder, { recursive: true });
    // Settings for ECMAScript modules, as `tsc --init` writes them; the others are for CommonJS, or for both.
    mkdirSync(join(folder, "modules"));
    for (const file of ["stack.ts", "service.ts"]) cpSync(join(folder, file), join(folder, "modules", file));
    writeFileSync(join(folder, "modules/package.json"), JSON.stringify({ type: "module" }));
    await run(join(root, "node_modules/.bin/tsc"), ["--init"], { cwd: join(folder, "modules") });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("have declarations that name no type of zod", () => {
    const declarations = readdirSync(join(folder, "node_modules"), { recursive: true, encoding: "utf8" }).filter(
      (file) => /^(@rabbitmq-delay\/|pulumi-rabbitmq-delay\/).*\.d\.ts$/.test(file),
    );
    assert.ok(declarations.length > 200, String(declarations.length));
    const naming = declarations.filter((file) =>
      /["']zod["']/.test(readFileSync(join(folder, "node_modules", file), "utf8")),
    );
    assert.deepEqual(naming, []);
  });

  for (const [compiler, { program, refused }] of Object.entries(compilers))
    for (const settings of ["pulumi", "nest", "vite", "tsc --init"])
      it(`compile by ${compiler} with the settings of ${settings}`, async () => {
        const isInit = settings === "tsc --init";
        const place = isInit ? join(folder, "modules") : folder;
        const project = join(place, `tsconfig.${isInit ? "init" : settings}.json`);
        const base = isInit ? "./tsconfig.json" : `./${settings}.json`;
        writeFileSync(project, JSON.stringify({ extends: base, files: ["stack.ts", "service.ts"] }));
        const given = ["-p", project, "--noEmit", "--pretty", "false"];
        const said = await run(join(root, "node_modules/.bin", program), given).then(
          ({ stdout }) => stdout,
          ({ stdout }: { stdout: string }) => stdout,
        );
        if (refused[settings] === undefined) assert.equal(said, "");
        else assert.match(said, refused[settings]);
      });
});
