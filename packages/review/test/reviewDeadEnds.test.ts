import { strict as assert } from "node:assert";
import type { PreviewStep } from "../dist/preview/preview";
import { parsePreview } from "../dist/preview/preview";
import { reviewOf } from "../dist/review";
import { step } from "./steps";

const exchange = (name: string, settings: object = {}, op = "same"): PreviewStep =>
  step(op, "rabbitmq:index/exchange:Exchange", name, {
    ...{ name, vhost: "/" },
    settings: { type: "topic", durable: true, ...settings },
  });
const leading = (name: string, alternate: string, more: object = {}): PreviewStep =>
  exchange(name, { arguments: { "alternate-exchange": alternate }, ...more });
const queue = (name: string, values: object = {}, op = "same"): PreviewStep =>
  step(op, "rabbitmq:index/queue:Queue", name, {
    ...{ name, vhost: "/" },
    settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...values }) },
  });
const feeding = (name: string, to: string, key?: string): PreviewStep =>
  queue(name, { "x-dead-letter-exchange": to, ...(key === undefined ? {} : { "x-dead-letter-routing-key": key }) });
/** Binds a queue to an exchange, `in -> q`, or an exchange, `in => out`. */
const bound = (op: string, way: string, routingKey = "#", more: object = {}): PreviewStep => {
  const [source, sign, destination] = way.split(" ");
  const values = { source, destination, destinationType: sign === "=>" ? "exchange" : "queue", routingKey, vhost: "/" };
  return step(op, "rabbitmq:index/binding:Binding", `${way} ${routingKey}`, values, more);
};

describe("a review of dead ends", () => {
  // The binding whose loss was accepted spoke for the other one: safe, and each message was lost.
  it("lets an accepted loss hide no other change that takes a way", async () => {
    const kept = [exchange("spare", { type: "fanout" }), queue("q"), queue("q2"), bound("same", "spare -> q")];
    const gone = bound("delete", "spare -> q2");
    const made = bound("create", "in => out");
    const steps = [...kept, leading("in", "spare"), exchange("out"), feeding("w", "spare", "k"), gone, made];
    const accepted = [{ urn: gone.urn, reason: "drained" }];
    const { verdict, findings } = await reviewOf(parsePreview(JSON.stringify({ steps }), "test"), { accepted });
    assert.equal(verdict, "loss");
    const open = findings.filter((finding) => finding.severity === "loss" && finding.accepted === undefined);
    assert.deepEqual(
      open.map(({ rule, entity }) => `${rule}: ${entity}`),
      ["unroutable-lost: binding in → out"],
    );
    const without = steps.filter((one) => one !== made);
    const alone = await reviewOf(parsePreview(JSON.stringify({ steps: without }), "test"), { accepted });
    assert.notEqual(alone.verdict, "loss", "an accepted loss stays accepted");
  });
});
