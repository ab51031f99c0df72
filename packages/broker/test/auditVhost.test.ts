import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { auditVhost } from "../dist/audit/auditVhost";
import { readVhost } from "../dist/audit/readVhost";
import { BrokerReader } from "@rabbitmq-delay/broker";

const declared = { durable: true, auto_delete: false, arguments: {}, consumers: 1 };

describe("a look at a broker", () => {
  // A broker whose statistics are off names no numbers, and 32 stalled messages were none.
  it("tells queues that are not counted from empty ones", async () => {
    const declared = { durable: true, auto_delete: false, arguments: {} };
    const answers: Record<string, unknown> = {
      overview: { rabbitmq_version: "4.3.6" },
      "exchanges/%2F": [{ name: "", type: "direct", internal: false, ...declared }],
      "queues/%2F": [
        { name: "counted", messages: 0, consumers: 0, ...declared },
        { name: "a", ...declared },
        { name: "b", ...declared },
      ],
    };
    const server = createServer((request, response) => {
      const path = (request.url as string).slice("/api/".length).split("?")[0] as string;
      response.end(JSON.stringify(answers[path] ?? []));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    let pauses = 0;
    const found = await readVhost(
      new BrokerReader({ managementUrl: `http://127.0.0.1:${port}`, username: "guest", password: "guest" }),
      "/",
      async () => void pauses++,
    );
    server.close();
    assert.equal(pauses, 2);
    const findings = auditVhost({ networks: [], endpoints: [], retries: [] }, found);
    assert.deepEqual(
      findings.map(({ rule, severity, subject }) => [rule, severity, subject]),
      [["uncounted", "error", "queue a"]],
    );
    assert.match(findings[0]?.message ?? "", /and 1 more are not counted/);
    // Consumers of a level, and messages past their time, were none where the broker does not tell of them.
    const counted = found.queues.map((queue) => ({ ...queue, messages: 0, consumers: undefined }));
    const silent = { ...found, queues: counted, looks: [counted] };
    const [finding] = auditVhost({ networks: [], endpoints: [], retries: [] }, silent);
    assert.equal(finding?.rule, "uncounted");
    assert.match(finding.message, /and 2 more are only counted, because the broker's statistics are switched off/);
  });

  it("compares the error queues of the whole stack with what is there", async () => {
    const declared = { durable: true, auto_delete: false, consumers: 1 };
    const typed = { "x-queue-type": "quorum" };
    const answers: Record<string, unknown> = {
      overview: { rabbitmq_version: "3.10.8" },
      "exchanges/%2F": [
        { name: "", type: "direct", internal: false, arguments: {}, ...declared },
        { name: "error", type: "fanout", internal: false, arguments: {}, ...declared },
      ],
      "queues/%2F": [
        { name: "error", messages: 0, arguments: typed, ...declared },
        { name: "audit", messages: 0, arguments: {}, ...declared },
      ],
    };
    const server = createServer((request, response) => {
      const path = (request.url as string).slice("/api/".length).split("?")[0] as string;
      response.end(JSON.stringify(answers[path] ?? []));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const found = await readVhost(
      new BrokerReader({ managementUrl: `http://127.0.0.1:${port}`, username: "guest", password: "guest" }),
      "/",
      async () => undefined,
    );
    server.close();
    const errorQueues = ["error", "audit", "later"];
    const findings = auditVhost({ networks: [], endpoints: [], retries: [], errorQueues }, found);
    assert.deepEqual(
      findings
        .filter(({ rule }) => rule !== "broker-fault")
        .map(({ rule, subject, message }) => `${rule} ${subject}: ${message.split(/[:;]/)[0]}`),
      [
        'missing-part error queue error: exchange error does not lead to queue error with the key ""',
        "missing-part error queue audit: exchange audit is not on the broker",
        "changed-part error queue audit: queue audit exists with x-queue-type nothing (declared here",
        "missing-queues error queue later: none of its queues is on the broker yet",
      ],
    );
  });

  // A check failed on a healthy broker, because a queue for replies came and went while it looked.
  it("does not tell of a queue that is there no more at its last look", async () => {
    const { found, looks } = await lookAt((look) => ({
      "queues/%2F": [
        { name: "work", messages: 0, ...declared },
        ...(look === 1 ? [{ name: "amq.gen-1", ...declared }] : []),
      ],
    }));
    assert.equal(looks, 2);
    const findings = auditVhost({ networks: [], endpoints: [], retries: [] }, found);
    assert.deepEqual(
      findings.filter(({ severity }) => severity === "error"),
      [],
    );
  });

  // A check just after an update said that its policy has no effect.
  it("looks again while the broker still shows a weaker policy of a queue than it has", async () => {
    const policy = { pattern: "^work$", "apply-to": "queues", definition: { "max-length": 5 }, vhost: "/" };
    const { found, looks } = await lookAt((look) => ({
      "queues/%2F": [{ name: "work", messages: 0, ...declared, policy: look < 3 ? "old" : "new" }],
      "policies/%2F": [
        { ...policy, name: "old", priority: 0 },
        { ...policy, name: "new", priority: 1 },
      ],
    }));
    assert.equal(looks, 3);
    assert.deepEqual(
      found.queues.map((queue) => (queue as { policy?: string }).policy),
      ["new"],
    );
  });
});

/** Reads a vhost from a broker that answers each look at its queues in its own way. */
async function lookAt(
  answersAt: (look: number) => Record<string, unknown>,
): Promise<{ found: Awaited<ReturnType<typeof readVhost>>; looks: number }> {
  let looks = 0;
  const server = createServer((request, response) => {
    const path = (request.url as string).slice("/api/".length).split("?")[0] as string;
    if (path === "queues/%2F") looks++;
    const answers: Record<string, unknown> = {
      overview: { rabbitmq_version: "4.3.6" },
      "exchanges/%2F": [
        { name: "", type: "direct", internal: false, durable: true, auto_delete: false, arguments: {} },
      ],
      ...answersAt(looks),
    };
    response.end(JSON.stringify(answers[path] ?? []));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const reader = new BrokerReader({
    managementUrl: `http://127.0.0.1:${port}`,
    username: "guest",
    password: "guest",
  });
  try {
    return { found: await readVhost(reader, "/", async () => undefined), looks };
  } finally {
    server.close();
  }
}
