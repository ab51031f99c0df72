import { strict as assert } from "node:assert";
import type { z } from "zod";
import { delayGateway, delayNetwork, delayedStore, workRetry } from "@rabbitmq-delay/topology";
import {
  gatewayQueues,
  planStack,
  readCluster,
  readEndpointBinding,
  readGatewayDeployment,
  readStackConfig,
  readStoreDeployment,
  readUser,
  withNameAs,
} from "@rabbitmq-delay/topology/stack";
import { userSchema } from "../dist/access/userSchema";
import { clusterSchema } from "../dist/kubernetes/clusterSchema";
import { gatewayDeploymentSchema, storeDeploymentSchema } from "../dist/kubernetes/deploymentSchema";
import { endpointBindingSchema } from "../dist/network/endpointSchema";
import { inPlainWords } from "../dist/plainWords";
import { stackConfigSchema } from "../dist/stackSchema";

/** What stands in the place of a value, and never is one: a password of digits, too. */
const DIGITS = 48151623;
const mistakes = [DIGITS, "", "a b@c/d\n", [], [DIGITS], [["a"]], {}, { a: DIGITS }, null, true, -1.5, undefined];

const schemas: Record<string, () => z.ZodObject> = {
  "a stack's config": stackConfigSchema,
  "a user": userSchema,
  "an endpoint": endpointBindingSchema,
  "a cluster": clusterSchema,
  "a store's process": storeDeploymentSchema,
  "a gateway's process": gatewayDeploymentSchema,
};

/** What zod says of a field; of these, each kind of field has some. */
interface Definition {
  type: string;
  innerType?: z.ZodType;
  shape: Record<string, z.ZodType>;
  element: z.ZodType;
  valueType: z.ZodType;
}

/** Every way into a schema, with an object or a list of one item at each step. */
function waysInto(field: z.core.$ZodType, way: PropertyKey[] = [], seen = 0): PropertyKey[][] {
  const { type, innerType, shape, element, valueType } = (field as z.ZodType)._zod.def as unknown as Definition;
  if (seen > 8) return [];
  if (innerType !== undefined) return waysInto(innerType, way, seen);
  if (type === "object")
    return [way, ...Object.entries(shape).flatMap(([name, part]) => waysInto(part, [...way, name], seen + 1))];
  if (type === "array") return [way, ...waysInto(element, [...way, 0], seen + 1)];
  if (type === "record") return [way, ...waysInto(valueType, [...way, "name"], seen + 1)];
  return [way];
}

function withAt(way: readonly PropertyKey[], value: unknown): unknown {
  const [key, ...rest] = way;
  if (key === undefined) return value;
  return typeof key === "number" ? [withAt(rest, value)] : { [key]: withAt(rest, value) };
}

function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.equal((error as Error).name, "DelayTopologyError", (error as Error).stack);
    return (error as Error).message;
  }
  return assert.fail("it was allowed");
}

describe("schemas", () => {
  for (const [name, schema] of Object.entries(schemas)) {
    // "Invalid input: expected string, received number" was shown of a pattern.
    it(`of ${name} say of each property what is allowed, in this project's words`, () => {
      const ways = waysInto(schema());
      assert.ok(ways.length > 5, String(ways.length));
      for (const way of ways)
        for (const mistake of mistakes)
          for (const error of [undefined, inPlainWords]) {
            const { issues = [] } = schema().safeParse(withAt(way, mistake), { error }).error ?? {};
            for (const { message, path } of issues)
              assert.match(
                message,
                /^(it (must|has|is|follows|stands)|its |a network's name|the |known |give |names that|no word|write |at most|\d+ ms|as|client)/,
                `${path.join(".")}: ${message}`,
              );
          }
    });
  }

  // Passwords of digits, in the place of a name.
  it("show no number where a text belongs", () => {
    const network = delayNetwork({ preset: "celery" });
    const user = { user: "a", credentials: [{}] };
    const process = { namespace: "a", image: "a:1", amqpUrl: "amqps://a:5671" };
    for (const run of [
      () => readUser({ ...user, user: DIGITS }),
      () => readUser({ ...user, owner: DIGITS }),
      () => readUser({ ...user, consumes: [DIGITS] }),
      () => readUser({ ...user, vhost: DIGITS }),
      () => readEndpointBinding({ endpoint: "a", brokerVersion: DIGITS }),
      () => readEndpointBinding({ endpoint: "a", owner: DIGITS }),
      () => readEndpointBinding({ endpoint: DIGITS }),
      () => delayGateway({ network: DIGITS }),
      () => delayGateway({ network: { ...network, kind: DIGITS } }),
      () => workRetry({ queue: "a", delays: [5], patterns: [DIGITS as never] }),
      () => delayedStore({ exchanges: [DIGITS as never] }),
      () => readStoreDeployment({ ...process, databaseSecret: DIGITS }),
      () => readGatewayDeployment({ ...process, image: DIGITS }),
      () => readCluster({ namespace: DIGITS, storage: { className: "fast" } }),
      () =>
        readStackConfig({
          network: { preset: "celery" },
          workQueues: [{ queue: "a", delays: [5], patterns: [DIGITS] }],
        }),
    ]) {
      const message = refusalOf(run);
      assert.match(message, /: this number is not allowed; /);
      assert.doesNotMatch(message, /48151623|Invalid/);
    }
    assert.match(
      refusalOf(() => workRetry({ queue: "a", delays: [-5] })),
      /^delays\[0\]: -5 is not allowed; /,
    );
  });

  it("call a store's and a gateway's name as who wrote it does", () => {
    const network = delayNetwork({ preset: "celery" });
    const [name, long] = ["a@b", "a".repeat(250)];
    for (const wrong of [name, long]) {
      assert.match(
        refusalOf(() => delayedStore({ name: wrong }, withNameAs("storeName"))),
        /^storeName: /,
      );
      assert.match(
        refusalOf(() => gatewayQueues({ name: wrong }, withNameAs("gatewayName"))),
        /^gatewayName: /,
      );
      assert.match(
        refusalOf(() => delayGateway({ name: wrong, network }, withNameAs("gatewayName"))),
        /^gatewayName: /,
      );
      const planned = (given: object): unknown =>
        planStack(readStackConfig({ network: { preset: "celery" }, ...given }), "/");
      assert.match(
        refusalOf(() => planned({ delayedStore: { storeName: wrong } })),
        /^delayedStore\.storeName: /,
      );
      assert.match(
        refusalOf(() => planned({ delayGateway: { gatewayName: wrong } })),
        /^delayGateway\.gatewayName: /,
      );
    }
  });

  // Their components refused them once the networks had been made.
  it("take no user of a process that its component refuses", () => {
    for (const part of ["delayedStore", "delayGateway"])
      for (const user of ["a b", "a@b", "a/b", "u".repeat(201)])
        assert.match(
          refusalOf(() => readStackConfig({ network: { preset: "celery" }, [part]: { user } })),
          new RegExp(`^${part}\\.user: this text is not allowed; the name must have 1 to 200 characters`),
        );
  });

  it("show no secret in the place of its name", () => {
    const password = "S3cretPassw0rd";
    const process = { namespace: "a", image: "a:1", amqpUrl: "amqps://a:5671" };
    for (const run of [
      () => readStoreDeployment({ ...process, databaseSecret: password }),
      () => readStoreDeployment({ ...process, databaseSecret: "a", databaseSecretKey: `${password}#` }),
      () => readGatewayDeployment({ ...process, caSecret: password }),
      () => readCluster({ namespace: "a", storage: { className: "fast" }, tls: { secretName: password } }),
      () => readUser({ user: `a/${password}`, credentials: [{}] }),
    ])
      assert.match(refusalOf(run), /: this text is not allowed; /);
  });
});
