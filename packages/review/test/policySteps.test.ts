import { strict as assert } from "node:assert";
import { PolicySteps } from "../dist/judge/policySteps";
import type { EntityChange } from "../dist/preview/entityChange";

/** A new policy of each queue, of a priority, beside the policies that it depends on. */
const created = (priority: number, laterDependencies: string[] = []): EntityChange => ({
  urn: `p${priority}`,
  type: "rabbitmq:index/policy:Policy",
  name: `p${priority}`,
  kind: "policy",
  action: "create",
  isImport: false,
  isRetained: false,
  isReleased: false,
  after: { name: `p${priority}`, vhost: "/", policy: { pattern: ".*", applyTo: "queues", priority, definition: {} } },
  causes: [],
  dependencies: [],
  laterDependencies,
});

const between = (policies: EntityChange[]): string[] =>
  new PolicySteps(policies, policies)
    .between({ vhost: "/", name: "q", queueArguments: {} })
    .map(({ found, isSure }) => `${found.map(({ change }) => change.urn).join("+")}${isSure ? "" : "?"}`);

describe("the steps of an update that change policies", () => {
  it("come in each order that dependencies leave open", () => {
    assert.deepEqual(between([created(1)]), []);
    assert.deepEqual(between([created(1), created(2)]), ["?", "p1", "p2", "p2"]);
    assert.deepEqual(between([created(1, ["p2"]), created(2)]), ["?", "p2", "p2"]);
    assert.deepEqual(between([created(1), created(2, ["p1"])]), ["?", "p1", "p2"]);
  });

  it("are taken to leave any policy in force where they are too many to look at each order", () => {
    const many = [1, 2, 3, 4, 5, 6, 7].map((priority) => created(priority));
    assert.deepEqual(between(many), ["p1+p2+p3+p4+p5+p6+p7?"]);
  });
});
