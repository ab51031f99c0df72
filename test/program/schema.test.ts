import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { breakingChanges } from "../../plugin/dist/compareSchemas";
import { inferSchema } from "../../plugin/dist/inferSchema";
import { withMetadata } from "../../plugin/dist/metadata";
import { PackageSchema, ResourceSpec, TypeSpec } from "../../plugin/dist/packageSchema";
import { schemaFile, schemaText } from "../../plugin/dist/schemaFile";
import { withSecrets } from "../../plugin/dist/secrets";
import { root } from "../../toolchain/dist/paths";

describe("the package's schema", () => {
  it("is current; make schema writes it anew", async () => {
    assert.equal(readFileSync(schemaFile, "utf8"), schemaText(await inferSchema()));
  });

  it("marks secret arguments, but no plain value, which can't be secret, and no output, which is secret by itself", () => {
    const { types, resources } = JSON.parse(readFileSync(schemaFile, "utf8")) as Required<PackageSchema>;
    const cluster = resources["rabbitmq-delay:index:RabbitMqCluster"];
    for (const name of ["password", "erlangCookie"]) assert.equal(cluster?.inputProperties?.[name]?.secret, true, name);
    for (const { properties = {} } of Object.values(resources))
      for (const [name, { secret }] of Object.entries(properties)) assert.equal(secret, undefined, name);
    assert.equal(types["rabbitmq-delay:index:EndpointCredential"]?.properties?.password?.secret, true);
    const plain = { password: { type: "string", plain: true } };
    const [type] = Object.values(withSecrets({ name: "p", types: { T: { properties: plain } } }).types ?? {});
    assert.deepEqual(type?.properties, plain);
  });

  it("names no type of arguments `Args`, because generators append that", () => {
    const { types } = JSON.parse(readFileSync(schemaFile, "utf8")) as Required<PackageSchema>;
    assert.deepEqual(
      Object.keys(types).filter((name) => name.endsWith("Args")),
      [],
    );
  });

  it("has integers wherever the largest allowed number fits into 32 bits, and only there", () => {
    const { types, resources } = JSON.parse(readFileSync(schemaFile, "utf8")) as Required<PackageSchema>;
    const config = JSON.parse(readFileSync(join(root, "schemas", "stack.json"), "utf8")) as unknown;
    const bounds = new Map<string, BoundedNumber>();
    collectNumbers(config, "", bounds);
    const properties = [
      ...Object.values(resources).flatMap(({ inputProperties = {} }) => Object.entries(inputProperties)),
      ...Object.values(types).flatMap(({ properties: inType = {} }) => Object.entries(inType)),
    ].filter(([, { type }]) => type === "integer" || type === "number");
    const bounded = properties.filter(([name]) => bounds.has(name));
    assert.ok(bounded.length > 20, String(bounded.length));
    for (const [name, { type }] of bounded) {
      const { type: wanted, maximum } = bounds.get(name) as BoundedNumber;
      assert.equal(type, wanted === "integer" && maximum < 2 ** 31 ? "integer" : "number", name);
    }
    const others = properties.filter(([name]) => !bounds.has(name)).map(([name, { type }]) => `${name}: ${type}`);
    assert.deepEqual([...new Set(others)].sort(), ["maximumDelayMs: number", "radix: integer", "version: integer"]);
  });

  it("has each descriptor as JSON text, too, and takes that text for each descriptor", () => {
    const { resources } = JSON.parse(readFileSync(schemaFile, "utf8")) as Required<PackageSchema>;
    const refersTo = ({ $ref = "" }: TypeSpec): boolean => $ref.endsWith("Descriptor");
    const texts: string[] = [];
    const taken: string[] = [];
    for (const { properties = {}, inputProperties = {} } of Object.values(resources)) {
      for (const [name, property] of Object.entries(properties)) {
        if (!refersTo(property)) continue;
        assert.equal(properties[`${name}Json`]?.type, "string", name);
        texts.push(name);
      }
      for (const [name, property] of Object.entries(inputProperties)) {
        const { oneOf = [], ...given } = property.items ?? property;
        assert.ok(!refersTo(given), name);
        if (!oneOf.some(refersTo)) continue;
        assert.ok(
          oneOf.some(({ type }) => type === "string"),
          name,
        );
        taken.push(name);
      }
    }
    assert.equal(texts.length, 8);
    assert.deepEqual([...new Set(taken)].sort(), ["furtherNetworks", "network", "retryIntervals"]);
  });

  it("keeps what was inferred, and adds to each language what it is called there", () => {
    const resources = { "rabbitmq-delay:index:Thing": {} };
    const schema = withMetadata({
      name: "rabbitmq-delay",
      version: "1.2.3",
      resources,
      language: { go: { respectSchemaVersion: true }, java: { respectSchemaVersion: true } },
    });
    assert.equal(schema.version, "1.2.3");
    assert.equal(schema.resources, resources);
    assert.equal(schema.language?.go?.respectSchemaVersion, true);
    assert.match(String(schema.language?.go?.importBasePath), /rabbitmqdelay$/);
    assert.deepEqual(schema.language?.java, { respectSchemaVersion: true });
  });
});

/** A number of the stack's config with its upper bound. */
interface BoundedNumber {
  type: string;
  maximum: number;
}

/** Adds the numbers of a JSON Schema that have an upper bound, by their names. */
function collectNumbers(schema: unknown, name: string, found: Map<string, BoundedNumber>): void {
  if (typeof schema !== "object" || schema === null) return;
  const { type, maximum } = schema as Partial<BoundedNumber>;
  if (type !== undefined && maximum !== undefined) {
    const wider = found.get(name)?.maximum ?? 0;
    found.set(name, { type, maximum: Math.max(wider, maximum) });
  }
  for (const [key, part] of Object.entries(schema)) collectNumbers(part, key, found);
}

describe("a comparison of two schemas", () => {
  const base = (): PackageSchema => ({
    name: "p",
    resources: {
      "p:index:Queue": {
        inputProperties: { name: { type: "string" }, mode: { $ref: "#/types/p:index:Mode", plain: true } },
        requiredInputs: ["name"],
        properties: { urn: { type: "string" }, made: { $ref: "#/types/p:index:Made" } },
        required: ["urn"],
      },
    },
    types: {
      "p:index:Mode": { type: "string", enum: [{ value: "a" }, { value: "b" }] },
      "p:index:Made": { type: "object", properties: { at: { type: "number" } }, required: ["at"] },
    },
  });
  const after = (edit: (resource: Required<PackageSchema>, queue: Required<ResourceSpec>) => void): string[] => {
    const now = base() as Required<PackageSchema>;
    edit(now, now.resources["p:index:Queue"] as Required<ResourceSpec>);
    return breakingChanges(base(), now);
  };

  const cases: [string, (schema: Required<PackageSchema>, queue: Required<ResourceSpec>) => void, string[]][] = [
    ["nothing", () => undefined, []],
    ["an optional input", (_, queue) => void (queue.inputProperties.more = { type: "string" }), []],
    ["another description", (_, queue) => void (queue.inputProperties.name = { type: "string", description: "x" }), []],
    ["a value more", ({ types }) => void types["p:index:Mode"]?.enum?.push({ value: "c" }), []],
    ["a component less", ({ resources }) => void delete resources["p:index:Queue"], ["component Queue was removed"]],
    [
      "a component renamed",
      ({ resources }) => {
        resources["p:index:Line"] = resources["p:index:Queue"]!;
        delete resources["p:index:Queue"];
      },
      ["component Queue was renamed to Line"],
    ],
    ["an input less", (_, queue) => void delete queue.inputProperties.mode, ["Queue: input mode was removed"]],
    [
      "an input renamed",
      (_, queue) => {
        queue.inputProperties.kind = queue.inputProperties.mode as object;
        delete queue.inputProperties.mode;
      },
      ["Queue: input mode was renamed to kind"],
    ],
    [
      "an input that is required",
      (_, queue) => void (queue.requiredInputs = ["name", "mode"]),
      ["Queue: input mode is required now"],
    ],
    [
      "an input of another type",
      (_, queue) => void (queue.inputProperties.name = { type: "array", items: { type: "string" }, plain: true }),
      ["Queue: input name was string, is plain array of string"],
    ],
    ["an output less", (_, queue) => void delete queue.properties.made, ["Queue: output made was removed"]],
    [
      "an output that may be missing",
      (_, queue) => void (queue.required = []),
      ["Queue: output urn may be missing now"],
    ],
    ["a value less", ({ types }) => void types["p:index:Mode"]?.enum?.pop(), ['Mode: value "b" was removed']],
    ["a type less", ({ types }) => void delete types["p:index:Made"], ["type Made was removed"]],
    [
      "a property of what is given that may be missing",
      ({ types }) => void (types["p:index:Made"]!.required = []),
      ["Made: property at may be missing now"],
    ],
    ["another name", (schema) => void (schema.name = "q"), ["the package p is called q now"]],
  ];
  for (const [label, edit, lines] of cases) {
    it(`with ${label}: ${lines.length === 0 ? "nothing breaks" : lines.join()}`, () => {
      assert.deepEqual(after(edit), lines);
    });
  }

  it("that a component takes one property more of a type, and needs it", () => {
    const old = base() as Required<PackageSchema>;
    old.resources["p:index:Queue"]!.inputProperties!.made = { $ref: "#/types/p:index:Made" };
    const now = structuredClone(old);
    now.types["p:index:Made"]!.properties!.by = { type: "string" };
    now.types["p:index:Made"]!.required!.push("by");
    assert.deepEqual(breakingChanges(old, now), ["Made: property by is required now"]);
  });
});
