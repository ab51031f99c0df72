import { strict as assert } from "node:assert";
import fc from "fast-check";
import type { z } from "zod";
import * as otherReaders from "../dist/readers.generated";
import { KnownNames, Source, byHand } from "../dist/optionReading";
import * as retryReaders from "../dist/retryReaders.generated";
import { readOptions } from "../dist/schema/options";
import { generatedOptions } from "../dist/schemas";
import { rounds } from "../../../test/support/length";

type Reader = (given: unknown, what: string, source?: Source) => unknown;
const readers: Record<string, unknown> = { ...otherReaders, ...retryReaders };

/** What zod says of a field. */
interface Definition {
  type: string;
  innerType: z.ZodType;
  shape: Record<string, z.ZodType>;
  element: z.ZodType;
  entries: Record<string, string>;
  values: number[];
}

const texts = fc.constantFrom(
  "sales",
  "a.b",
  "#",
  "*",
  "5m",
  "PT5M",
  "1",
  "10",
  "amq.direct",
  "a@b",
  "",
  "x".repeat(256),
  "\u0001",
  "\ud800",
);
const numbers = fc.oneof(
  fc.constantFrom(0, 1, 2, 4, 20, 1000, 5000, 2 ** 53, -1, 1.5, Number.NaN, Infinity),
  fc.integer(),
);

/** Values that a field mostly allows. */
function likely(field: z.ZodType): fc.Arbitrary<unknown> {
  const { type, innerType, element, entries, values } = field._zod.def as unknown as Definition;
  switch (type) {
    case "optional":
    case "default":
      return fc.option(likely(innerType), { nil: undefined, freq: 2 });
    case "object":
      return likelyObject(field);
    case "array":
      return fc.array(likely(element), { minLength: 1, maxLength: 2 });
    case "enum":
      return fc.constantFrom(...Object.values(entries));
    case "literal":
      return fc.constantFrom(...values);
    case "number":
      return fc.integer({ min: 1, max: 127 });
    case "boolean":
      return fc.boolean();
    case "union":
      return fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 9000 }) }, { weight: 1, arbitrary: texts });
    default:
      return fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom("sales", "billing", "a.b") },
        { weight: 1, arbitrary: texts },
      );
  }
}

function likelyObject(field: z.ZodType): fc.Arbitrary<unknown> {
  const { shape } = field._zod.def as unknown as Definition;
  return fc.record(Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, likely(part)])));
}

const mistakes = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    "true",
    "16",
    "1.5",
    {},
    [],
    [undefined],
    [null],
    [[]],
    [{}],
    { a: 1 },
    () => 1,
  ),
  texts,
  numbers,
);

/** Changes of options: a value, a missing property, or one that nobody knows, at any depth. */
const someChanges = fc.array(
  fc.record({
    at: fc.nat(),
    kind: fc.constantFrom("replace", "delete", "add"),
    mistake: mistakes,
    name: fc.constantFrom("prefx", "delys", "nam", "x y", "__proto__", "toString", "exchang"),
  }),
  { maxLength: 3 },
);

const changes = fc.oneof(fc.constant([]), someChanges);

function places(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(places)];
}

function changed(
  given: unknown,
  steps: readonly { at: number; kind: string; mistake: unknown; name: string }[],
): unknown {
  let root = structuredClone(given);
  for (const { at, kind, mistake: shared, name } of steps) {
    const mistake: unknown = typeof shared === "object" ? structuredClone(shared) : shared;
    const objects = places(root);
    const object = objects[at % (objects.length + 1)] as Record<string, unknown> | undefined;
    if (object === undefined) {
      if (kind === "replace" && at % 7 === 0) root = mistake;
      continue;
    }
    const keys = Object.keys(object);
    const key = keys[at % Math.max(keys.length, 1)];
    if (kind === "add")
      Object.defineProperty(object, name, { value: mistake, enumerable: true, configurable: true, writable: true });
    else if (key !== undefined && kind === "replace") object[key] = mistake;
    else if (key !== undefined) Reflect.deleteProperty(object, key);
  }
  return root;
}

function outcome(run: () => unknown): unknown {
  try {
    return { read: run() };
  } catch (error) {
    const { name, message, property, value } = error as Error & { property: string; value: unknown };
    assert.equal(name, "DelayTopologyError", (error as Error).stack);
    return { message, property, value };
  }
}

/** Options of a descriptor: those that are known, and given. */
function known(given: unknown, names: KnownNames): unknown {
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => Object.hasOwn(names, name) && value !== undefined),
  );
}

describe("generated readers", () => {
  for (const { reader, schema } of generatedOptions()) {
    if (reader === undefined) continue;
    const read = readers[`read${reader}Options`] as Reader;
    const names = readers[`${reader.charAt(0).toLowerCase()}${reader.slice(1)}Names`] as KnownNames;
    const field = schema as z.ZodObject;

    it(`answer as zod does for ${reader}`, () => {
      let [allowed, refused] = [0, 0];
      const inDescriptor: Source = { at: (name) => `descriptor.${name.replace(/^name$/, "queue")}`, isComplete: true };
      const property = fc.property(likelyObject(field), changes, fc.boolean(), (given, steps, isWritten) => {
        const options = isWritten ? changed(given, steps) : known(changed(given, steps), names);
        const source = isWritten ? byHand : inDescriptor;
        const answer = outcome(() => read(options, "options", source));
        assert.deepEqual(
          answer,
          outcome(() => readOptions(field, options, "options", source)),
        );
        if ("read" in (answer as object)) allowed++;
        else refused++;
      });
      fc.assert(property, { numRuns: rounds(100, 2000) });
      assert.ok(allowed > 5 && refused > 5, `${allowed} allowed, ${refused} refused`);
    });
  }
});
