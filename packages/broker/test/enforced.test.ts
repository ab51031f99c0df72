import { strict as assert } from "node:assert";
import { BindingPlan, DelayNetwork, delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import type { DeclaredQueue } from "@rabbitmq-delay/topology/stack";
import { VhostOnBroker } from "../dist/audit/brokerFindings";
import { auditCollisions } from "../dist/audit/bindingCollisions";
import { auditEnforced, auditUnclaimed, auditUnfinished } from "../dist/audit/enforcedFindings";
import { checkJoinedEnds, checkMatchingChange, warnOfEnforced } from "../dist/preflight/matchingChange";
import type { OwnResource, StackState } from "../dist/preflight/stackState";
import { wayOut } from "../../../test/support/waysOut";

const [plain, enforced] = (["exact", "enforced"] as const).map((matching) =>
  delayNetwork({ preset: "nservicebus", matching }),
) as [DelayNetwork, DelayNetwork];

/** A vhost with a network, and what NServiceBus's senders have bound there; both ends are there, as in the middle of a change. */
function vhostWith(network: DelayNetwork, bound: string[], bindings: BindingPlan[] = []): VhostOnBroker {
  const { queues, exchanges } = planEntities(network);
  return {
    queues: queues.map(({ name, arguments: values }) => ({ name, arguments: values })),
    exchanges: [...new Set([...exchanges.map(({ name }) => name), "nsb.v2.delay-exact", ...bound])].map((name) => ({
      name,
    })),
    bindings: [
      ...bound.flatMap((name): BindingPlan[] => [
        { source: "nsb.v2.delay-delivery", destination: name, destinationType: "exchange", routingKey: `#.${name}` },
        { source: name, destination: name, destinationType: "queue", routingKey: "" },
      ]),
      ...bindings,
    ],
  };
}

describe("a network whose exact matching is enforced, on a broker", () => {
  const names = ["Sales", "Europe.Sales"];
  const exactly = names.flatMap((name) => planBinding(enforced, { name }).bindings);

  it("has no collision by what senders bind, which only a network without it has", () => {
    assert.deepEqual(auditCollisions(vhostWith(enforced, names, exactly)), []);
    assert.equal(auditCollisions(vhostWith(plain, names, exactly)).length, 1);
  });

  it("gives nothing to a destination that its senders alone have bound", () => {
    assert.deepEqual(auditEnforced(vhostWith(enforced, names, exactly)), []);
    const toExchange = exactly.map((binding) => ({ ...binding, destinationType: "exchange" as const }));
    assert.deepEqual(auditEnforced(vhostWith(enforced, names, toExchange)), []);
    const [finding, ...more] = auditEnforced(vhostWith(enforced, [...names, "New"], exactly));
    assert.deepEqual(
      [finding?.rule, finding?.severity, finding?.subject, more],
      ["unbound", "error", "exchange New", []],
    );
    assert.deepEqual(auditEnforced(vhostWith(plain, [...names, "New"], exactly)), []);
  });

  // An endpoint left as its stack took enforced matching over: its queue went on filling, and no command said so.
  it("has endpoints that no stack has any more", () => {
    const found = vhostWith(enforced, names, exactly);
    const [unclaimed, ...more] = auditUnclaimed(found, ["Sales"]);
    assert.deepEqual(
      [unclaimed?.rule, unclaimed?.severity, unclaimed?.subject, more],
      ["unclaimed", "warning", "queue Europe.Sales", []],
    );
    const claim = { name: "rabbitmq-delay.owner-of-endpoint.Europe.Sales" };
    assert.deepEqual(auditUnclaimed({ ...found, exchanges: [...found.exchanges, claim] }, ["Sales"]), []);
    assert.deepEqual(auditUnclaimed(vhostWith(plain, names), []), []);
  });

  // Of a killed run, the check said to bind or unbind what the run itself was about to.
  it("is told to end its change first, and nothing else, while a run of enforce has not ended", () => {
    const rest = { pattern: "^x$", applyTo: "exchanges", priority: 1, definition: {}, isOperator: false };
    const after = (policy: string): VhostOnBroker => ({
      ...vhostWith(enforced, [...names, "New"], exactly),
      policies: [{ ...rest, name: policy }],
    });
    for (const suffix of ["", "-fallback", "-to-exact", "-to-delivery"]) {
      const found = after(`nsb.v2.delay-level-00-detour${suffix}`);
      assert.deepEqual([...auditEnforced(found), ...auditUnclaimed(found, [])], []);
      const [finding, ...more] = auditUnfinished(found);
      assert.deepEqual(
        [finding?.rule, finding?.severity, finding?.subject, more],
        ["unfinished-enforce", "error", "network nsb.v2.delay", []],
      );
      assert.match(finding?.message ?? "", /enforce --preset nservicebus again, or with --undo$/);
    }
    const ended = after("nsb.v2.delay-level-00-other");
    assert.deepEqual(auditUnfinished(ended), []);
    assert.equal(auditEnforced(ended).length, 1);
  });
});

describe("checkMatchingChange", () => {
  const [before, after] = [plain, enforced].map((network) => planEntities(network).queues);
  const name = "nsb.v2.delay-level-00";
  const found = (queues: typeof before = []): Map<string, DeclaredQueue> =>
    new Map(queues.map((plan) => [plan.name, { ...plan, auto_delete: false }]));
  const stateOf = (queues: typeof before, write: (values: object) => object): StackState => ({
    resources: async (): Promise<OwnResource[]> =>
      (queues ?? []).map((plan) => ({
        urn: plan.name,
        type: "rabbitmq:index/queue:Queue",
        outputs: { name: plan.name, vhost: "/", settings: write(plan.arguments) },
      })),
    names: async () => undefined,
    isOf: async () => true,
  });
  const asJson = (values: object): object => ({ argumentsJson: JSON.stringify(values) });

  it("refuses a change that the live network has not seen, with the verb", async () => {
    const state = stateOf(before, asJson);
    await checkMatchingChange(state, "/", before ?? [], found(before));
    await assert.rejects(
      checkMatchingChange(state, "/", after ?? [], found(before)),
      /Run rabbitmq-delay enforce first/,
    );
    await assert.rejects(
      checkMatchingChange(state, "/", before ?? [], found(after)),
      /Set matching: enforced, and run pulumi refresh\. Or run rabbitmq-delay enforce --undo first/,
    );
  });

  it("refuses one that the state has not seen: the engine would delete the live queue", async () => {
    for (const write of [asJson, (values: object) => ({ arguments: values })]) {
      const state = stateOf(before, write);
      await assert.rejects(
        checkMatchingChange(state, "/", after ?? [], found(after)),
        new RegExp(`${name}.*pulumi refresh`),
      );
      await checkMatchingChange(stateOf(after, write), "/", after ?? [], found(after));
      await checkMatchingChange(state, "other", after ?? [], found(after));
    }
  });

  it("refuses an enforced network as long as nobody gives its state: it may have the old target", async () => {
    const silent = { ...stateOf(after, asJson), resources: async () => undefined };
    await assert.rejects(
      checkMatchingChange(silent, "/", after ?? [], found(after)),
      wayOut("preflight-readable-state"),
    );
    await checkMatchingChange(stateOf(after, asJson), "/", after ?? [], found(after));
    await checkMatchingChange(silent, "/", after ?? [], found());
    await checkMatchingChange(silent, "/", before ?? [], found(before));
  });

  it("refuses an endpoint at an end that messages don't reach: its descriptor is older than the change", () => {
    const [old, current] = [plain, enforced].map((network) => planBinding(network, { name: "Billing" }).bindings);
    checkJoinedEnds(old ?? [], found(before));
    checkJoinedEnds(current ?? [], found(after));
    // A network that is not there yet is made by the same update.
    checkJoinedEnds(current ?? [], found());
    assert.throws(() => checkJoinedEnds(old ?? [], found(after)), /Billing.*level 0 leads to nsb\.v2\.delay-exact/);
    assert.throws(() => checkJoinedEnds(current ?? [], found(before)), /level 0 leads to nsb\.v2\.delay-delivery/);
  });

  it("tells of installers once, for a network that is not there yet", () => {
    assert.equal(warnOfEnforced(after ?? [], found()).length, 1);
    assert.match(warnOfEnforced(after ?? [], found())[0] ?? "", /installers.*406.*EnableInstallers/);
    assert.deepEqual(warnOfEnforced(after ?? [], found(after)), []);
    assert.deepEqual(warnOfEnforced(before ?? [], found()), []);
  });
});
