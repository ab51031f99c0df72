import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { root } from "../../toolchain/dist/paths";

/** The packages of others that are loaded along. */
function loadedWith(name: string): string[] {
  const script = `
    require(${JSON.stringify(name)});
    const found = Object.keys(require.cache).map((file) => /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
    console.log(JSON.stringify([...new Set(found)].filter(Boolean)));`;
  return JSON.parse(execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" })) as string[];
}

describe("loading a package", () => {
  for (const name of ["topology", "publish", "broker", "review"]) {
    it(`@rabbitmq-delay/${name} loads nothing of others`, () => {
      assert.deepEqual(loadedWith(`@rabbitmq-delay/${name}`), []);
    });
  }

  it("pulumi-rabbitmq-delay does not load the library for Kubernetes, which only a stack with something there needs", () => {
    const library = "@pulumi/kubernetes";
    assert.ok(!loadedWith("pulumi-rabbitmq-delay").includes(library));
    assert.ok(loadedWith(library).includes(library), "what is looked for has another name now");
  });

  it("@rabbitmq-delay/store loads no HTTP server, no logger and no metrics: they are its service's", () => {
    const service = ["fastify", "pino", "prom-client"];
    const loaded = loadedWith("@rabbitmq-delay/store");
    assert.deepEqual(
      [...service, "umzug"].filter((one) => loaded.includes(one)),
      [],
    );
    const withService = loadedWith("@rabbitmq-delay/store/service");
    assert.deepEqual(
      service.filter((one) => withService.includes(one)),
      service,
      "what is looked for has another name now",
    );
  });
});
