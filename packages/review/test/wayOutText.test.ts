import { strict as assert } from "node:assert";
import { renderMarkdown } from "../dist/report/markdown";
import { PreviewStep, parsePreview } from "../dist/preview/preview";
import { reviewOf } from "../dist/review";
import { change, queueStep, reviewed, step } from "./steps";

const QUEUE = "rabbitmq:index/queue:Queue";

/** A deleted queue of a component. */
function partOf(component: string, name: string): PreviewStep {
  const parent = `urn:pulumi:prod::shop::${component}::${name}s`;
  const urn = `urn:pulumi:prod::shop::${component}$${QUEUE}::${name}`;
  const one = queueStep("delete", name);
  return { ...one, urn, oldState: { ...one.oldState, urn, parent, type: QUEUE } };
}

const textOf = async (steps: PreviewStep[]): Promise<string> => renderMarkdown(await reviewed(steps), "prod", "shop");

describe("a way out in a report", () => {
  // It spoke of `networks` in the config and of `removal`, which a plain resource does not have.
  it("is in words of a component for its parts, and of a resource for others", async () => {
    const plain = await textOf([queueStep("delete", "orders")]);
    assert.match(plain, /`retainOnDelete: true` in the resource's options/);
    assert.doesNotMatch(plain, /removal/);
    const part = await textOf([partOf("rabbitmq-delay:index:ErrorQueues", "error")]);
    assert.match(part, /`pulumi config set rabbitmq-delay:removal retain && pulumi up`/);
    assert.doesNotMatch(part, /retainOnDelete/);
  });

  // It said "classic" of every queue.
  it("names the type that a queue has on the broker, and none where several differ", async () => {
    const untyped = (type: string): PreviewStep => {
      const queue = (argumentsJson: string): object => ({ name: type, vhost: "/", settings: { argumentsJson } });
      return change("replace", QUEUE, type, queue(JSON.stringify({ "x-queue-type": type })), queue("{}"));
    };
    const toldOf = async (...types: string[]): Promise<string | undefined> =>
      /`"x-queue-type": "(.*?)"`/.exec(await textOf(types.map(untyped)))?.[1];
    assert.equal(await toldOf("classic"), "classic");
    assert.equal(await toldOf("quorum"), "quorum");
    assert.equal(await toldOf("quorum", "stream"), "TYPE");
  });

  // Only findings about queues said in which vhost, and the first queue's vhost stood for all of them.
  it("names the vhost of its commands, and none where several differ", async () => {
    const policy = (vhost: string): PreviewStep =>
      step("delete", "rabbitmq:index/policy:Policy", vhost, {
        ...{ name: "lazy", vhost },
        policy: { pattern: "^orders$", applyTo: "queues", definition: { "queue-mode": "lazy" } },
      });
    const toldOf = async (...vhosts: string[]): Promise<string | undefined> =>
      /rabbitmqctl list_policies -p (\S+)`/.exec(await textOf(vhosts.map(policy)))?.[1];
    assert.equal(await toldOf("sales"), "sales");
    assert.equal(await toldOf("sales", "billing"), "VHOST");
  });

  // Five copies of two paragraphs, one for each group.
  it("is told once, and referred to by later groups", async () => {
    const groups = ["a", "b", "c"].map((name) => partOf("rabbitmq-delay:index:ErrorQueues", name));
    const text = await textOf(groups);
    assert.equal(text.match(/would be deleted\.\*\*/g)?.length, 3, text);
    assert.equal(text.match(/rabbitmqctl list_queues/g)?.length, 1, text);
    assert.equal(text.match(/As above\./g)?.length, 2, text);
  });

  // Only the accepted group had told it, and a comment shows no way out of what is accepted.
  it("is told for a danger beside an accepted one of its kind", async () => {
    const [one, other] = ["a", "b"].map((name) => partOf("rabbitmq-delay:index:ErrorQueues", name));
    const preview = parsePreview(JSON.stringify({ steps: [one, other] }), "test");
    const accepted = [{ urn: one?.urn ?? "", reason: "drained" }];
    const text = renderMarkdown(await reviewOf(preview, { accepted }), "prod");
    assert.match(text, /✅.*\n.*\n {2}- Accepted because: <code>drained<\/code>/);
    assert.match(text, /Way out: Wait until nothing is in them/);
    assert.doesNotMatch(text, /As above/);
  });

  it("has a mark by project and stack, which a report of a stack alone had not", async () => {
    assert.match(await textOf([queueStep("delete", "orders")]), /^<!-- rabbitmq-delay review of shop\/prod -->/);
  });

  // The line ended with a colon and nothing behind it.
  it("stands beside a line about a network that differs in its prefix alone", async () => {
    const parent = "urn:pulumi:prod::shop::rabbitmq-delay:index:DelayLevelTopology::delay";
    const delivery = (op: string, prefix: string): PreviewStep => {
      const type = "rabbitmq:index/exchange:Exchange";
      const one = step(op, type, `delay-${prefix}`, { name: `${prefix}.r4x7u1000.delivery`, vhost: "/" }, { parent });
      return { ...one, urn: one.urn.replace(`${type}::`, `rabbitmq-delay:index:DelayLevelTopology$${type}::`) };
    };
    const text = await textOf([delivery("delete", "orders"), delivery("create", "shop")]);
    assert.match(text, /is a new network instead of `?orders\.r4x7u1000`?$/m);
  });
});
