import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as fc from "fast-check";
import { parse } from "yaml";
import { DelayNetwork, delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { readStackConfig } from "@rabbitmq-delay/topology/stack";
import { renderStackYaml } from "../dist/render/stackYaml";
import { CommandEnd, runCommand } from "../../../test/support/command";

describe("a stack's config as YAML", () => {
  it("reads as the same values, whatever text is in them or in a remark", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "yes",
        "~",
        "1e3",
        "0x1f",
        "a: b",
        "# a",
        "&a",
        "!x",
        "- a",
        "a\nb: c",
        "\u001b[31m",
        "\u202e",
        "\u0085",
        "\ufeff",
        "a #b",
      ),
    );
    fc.assert(
      fc.property(anyText, anyText, (name, message) => {
        const config = {
          "rabbitmq-delay:network": { preset: "celery", prefix: name, adopt: true },
          "rabbitmq-delay:endpoints": [{ name: "first" }, { name, patterns: [name] }],
        };
        const remarks = [
          { kind: "differs" as const, place: [], message },
          { kind: "note" as const, place: ["rabbitmq-delay:network"], message },
          { kind: "differs" as const, place: ["rabbitmq-delay:endpoints", 1], message },
        ];
        const printed = renderStackYaml(config, [message], remarks);
        assert.deepEqual(parse(printed), { config });
        assert.doesNotMatch(printed, /[^\P{C}\n\p{Cn}\p{Co}]/u);
        const lines = printed.split("\n");
        assert.equal(lines.length, 15, printed);
        assert.ok(lines.filter((line) => line.trim().startsWith("#")).length === 4);
      }),
      { numRuns: 1000 },
    );
  });

  it("has each remark before the part that it is about", () => {
    const config = {
      "rabbitmq-delay:network": { preset: "celery" },
      "rabbitmq-delay:endpoints": [{ name: "a" }, { name: "b" }],
    };
    const remarks = [
      { kind: "left out" as const, place: [], message: "of all" },
      { kind: "differs" as const, place: ["rabbitmq-delay:network"], message: "of the network" },
      { kind: "note" as const, place: ["rabbitmq-delay:endpoints", 1], message: "of b" },
      { kind: "note" as const, place: ["rabbitmq-delay:endpoints", 1], message: "of b, too" },
    ];
    assert.equal(
      renderStackYaml(config, ["heading"], remarks),
      [
        "# heading",
        "# left out: of all",
        "config:",
        "  # differs: of the network",
        "  rabbitmq-delay:network:",
        "    preset: celery",
        "  rabbitmq-delay:endpoints:",
        "    - name: a",
        "    # note: of b",
        "    # note: of b, too",
        "    - name: b",
        "",
      ].join("\n"),
    );
  });
});

/** A broker that answers each reading of a vhost, and refuses all else. */
async function answer(
  answers: Record<string, unknown>,
): Promise<{ url: string; methods: Set<string>; close: () => void }> {
  const methods = new Set<string>();
  const server = createServer((request, response) => {
    methods.add(String(request.method));
    const path = (request.url as string).slice("/api/".length).split("?")[0] as string;
    const found = answers[path];
    if (found === undefined) response.statusCode = path === "bindings/orders" ? 500 : 404;
    response.end(JSON.stringify(found ?? { error: "refused" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://reader:very-secret@127.0.0.1:${port}`, methods, close: () => server.close() };
}

function answersOf(network: DelayNetwork | undefined, endpoints: string[]): Record<string, unknown> {
  const plan = network === undefined ? { exchanges: [], queues: [], bindings: [] } : planEntities(network);
  const declared = { durable: true, auto_delete: false, internal: false, arguments: {} };
  const bound = network === undefined ? [] : endpoints.flatMap((name) => planBinding(network, { name }).bindings);
  return {
    overview: { rabbitmq_version: "4.3.6" },
    "exchanges/orders": [
      { name: "", type: "direct", ...declared },
      ...plan.exchanges.map((one) => ({ ...declared, ...one })),
    ],
    "queues/orders": [...plan.queues, ...endpoints.map((name) => ({ name, arguments: {} }))].map((one) => ({
      ...declared,
      ...one,
    })),
    "bindings/orders": [...plan.bindings, ...bound].map(({ source, destination, destinationType, routingKey }) => ({
      source,
      destination,
      destination_type: destinationType,
      routing_key: routingKey,
    })),
    "policies/orders": [],
    "operator-policies/orders": [],
    vhosts: [{ name: "orders" }],
  };
}

async function adopt(answers: Record<string, unknown>, ...args: string[]): Promise<CommandEnd & { methods: string[] }> {
  const { url, methods, close } = await answer(answers);
  const { code, out, err } = await runCommand(["adopt", "--management", url, "--vhost", "orders", ...args]);
  close();
  assert.doesNotMatch(out + err, /very-secret|reader/);
  return { code, out, err, methods: [...methods] };
}

describe("rabbitmq-delay adopt", () => {
  const network = delayNetwork({ preset: "nservicebus", parking: false });

  it("prints a config that the program reads, and by readings alone", async () => {
    const { code, out, err, methods } = await adopt(answersOf(network, ["Sales"]));
    assert.deepEqual([code, err, methods], [0, "", ["GET"]]);
    assert.match(out, /^# adopts what was found in vhost "orders"; nothing differs\nconfig:\n/);
    const { config } = parse(out) as { config: Record<string, object> };
    const values = JSON.parse(JSON.stringify(config), (key, value: unknown) =>
      key === "adopt" ? undefined : value,
    ) as object;
    const read = readStackConfig(
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key.replace("rabbitmq-delay:", ""), value as unknown]),
      ),
    );
    assert.deepEqual(read.endpoints, [{ name: "Sales" }]);
    assert.deepEqual(read.broker, { vhost: "orders" });
    const json = await adopt(answersOf(network, ["Sales"]), "--json");
    const data = JSON.parse(json.out) as { config: object; remarks: { kind: string }[] };
    assert.deepEqual(data.config, config);
    assert.ok(data.remarks.every(({ kind }) => kind === "note"));
  });

  it("exits with 1 where something differs, or nothing is there", async () => {
    const answers = answersOf(network, ["Sales"]);
    const queues = (answers["queues/orders"] as { name: string }[]).filter(
      ({ name }) => name !== "nsb.v2.delay-level-05",
    );
    const broken = await adopt({ ...answers, "queues/orders": queues });
    assert.equal(broken.code, 1);
    assert.match(broken.out, /; 1 thing differs: see the remarks\n/);
    assert.match(
      broken.out,
      /\n {2}# differs: queue nsb\.v2\.delay-level-05 is not on the broker: .*declare it again\n/,
    );
    const none = await adopt(answersOf(undefined, ["Sales"]));
    assert.deepEqual([none.code, none.out], [1, '# nothing that a stack could adopt was found in vhost "orders"\n']);
    const json = await adopt(answersOf(undefined, []), "--json");
    assert.deepEqual([json.code, JSON.parse(json.out)], [1, { vhost: "orders", config: {}, remarks: [] }]);
  });

  it("exits with 3, and prints no config, where a part can't be read", async () => {
    for (const path of [
      "overview",
      "exchanges/orders",
      "queues/orders",
      "bindings/orders",
      "policies/orders",
      "vhosts",
    ]) {
      const { code, out, err } = await adopt({ ...answersOf(network, ["Sales"]), [path]: undefined });
      assert.deepEqual([code, out], [3, ""], path);
      assert.match(err, /^error: --management: /, path);
    }
  });
});
