import { strict as assert } from "node:assert";
import {
  DelayGatewayOptions,
  delayGateway,
  delayNetwork,
  parseDelayGateway,
  planDelayGateway,
} from "@rabbitmq-delay/topology";
import { planEndpoints, planGatewayAccess, planStack, readStackConfig } from "@rabbitmq-delay/topology/stack";

const network = delayNetwork({ preset: "custom", prefix: "fine", radix: 2, levels: 3, unitMs: 10 });
const forwards = [{ exchange: "shop", delivery: "shop.delivery", type: "direct" as const }];

describe("delayGateway", () => {
  it("plans an intake, an error queue, and a queue that the network leads back to", () => {
    const { exchanges, queues, bindings } = planDelayGateway(delayGateway({ network, forwards }));
    assert.deepEqual(
      exchanges.map(({ name, type }) => `${name} ${type}`),
      ["gateway.error fanout", "gateway fanout", "shop fanout", "shop.delivery direct"],
    );
    const kept = {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
      "x-dead-letter-exchange": "gateway.error",
    };
    assert.deepEqual(
      queues.map(({ name, arguments: values }) => [name, values]),
      [
        ["gateway.error", { "x-queue-type": "quorum" }],
        ["gateway.intake", kept],
        ["gateway.return", kept],
      ],
    );
    assert.deepEqual(
      bindings.map(({ source, destination, routingKey }) => `${source} ${destination} ${routingKey}`),
      [
        "gateway.error gateway.error ",
        "gateway gateway.intake ",
        "shop gateway.intake ",
        `${network.deliveryExchange} gateway.return *.*.*.gateway.return`,
      ],
    );
  });

  it("takes messages with one process at a time where their order counts", () => {
    const { queues } = planDelayGateway(delayGateway({ network, singleActiveConsumer: true }));
    assert.deepEqual(
      queues.map(({ name, arguments: values }) => [name, values["x-single-active-consumer"]]),
      [
        ["gateway.error", undefined],
        ["gateway.intake", true],
        ["gateway.return", true],
      ],
    );
  });

  it("gives its process the rights for that and no more", () => {
    assert.deepEqual(planGatewayAccess(delayGateway({ network, forwards, toQueues: false })), {
      configure: "^$",
      write:
        "^(?:gateway\\.error|amq\\.default|shop\\.delivery|fine\\.r2x3u10\\.level-00|fine\\.r2x3u10\\.level-01|fine\\.r2x3u10\\.level-02)$",
      read: "^(?:gateway\\.intake|gateway\\.return)$",
      topics: [],
      tags: [],
    });
  });

  it("reads back what it exports, and refuses what was changed in it", () => {
    const gateway = delayGateway({ network, forwards, toQueues: false, exchanges: ["x"] });
    const json = JSON.parse(JSON.stringify(gateway)) as object;
    assert.deepEqual(parseDelayGateway(json), gateway);
    assert.throws(
      () => parseDelayGateway({ ...json, returnQueue: "x" }),
      /delayGateway\.returnQueue: "x" is not allowed/,
    );
    assert.throws(
      () => parseDelayGateway({ ...json, network: { ...network, levels: 4 } }),
      /delayGateway\.network\.entryExchanges/,
    );
    assert.throws(() => parseDelayGateway({ ...json, kind: "delayed-store" }), /delayGateway\.kind/);
  });

  it("is planned with its stack, which refuses a user of two processes, and an endpoint that is its own queue", () => {
    const config = {
      network: { preset: "custom", prefix: "fine", radix: 2, levels: 3, unitMs: 10 },
      delayGateway: { toQueues: true },
    };
    const plan = (more: object): ReturnType<typeof planStack> =>
      planStack(readStackConfig({ ...config, ...more }), "/");
    assert.equal(plan({}).gateway?.network.prefix, network.prefix);
    const [back] = planEndpoints(plan({}), {});
    assert.equal(back?.bindings[0]?.destination, "gateway.return");
    assert.throws(
      () => plan({ delayGateway: { user: "a" }, delayedStore: { user: "a" } }),
      /delayGateway\.user: "a" is not allowed; delayedStore has this user/,
    );
    for (const name of ["gateway.intake", "gateway.return"])
      assert.throws(() => plan({ endpoints: [{ name }] }), /endpoints\[0\]\.name: "gateway\.\w+" is not allowed/);
    assert.throws(() => plan({ delayGateway: { network: "other" } }), /delayGateway\.network: "other" is not allowed/);
    const exchange = { exchange: "shop", delays: [1000], otherwise: "gateway" };
    assert.throws(() => plan({ delayedExchanges: [exchange] }), /leads to the gateway.*give delayGateway\.forwards/);
  });

  it("refuses names that would lead a message round in circles, and a name too long for the network's keys", () => {
    const make = (more: Partial<DelayGatewayOptions>): unknown => delayGateway({ network, ...more });
    assert.throws(() => make({ exchanges: ["gateway"] }), /exchanges\[0\]: "gateway" is not allowed; gateway has an/);
    assert.throws(
      () => make({ exchanges: [network.entryExchanges[1] as string] }),
      /exchanges\[0\].*the network has an exchange/,
    );
    assert.throws(
      () => make({ forwards: [{ exchange: network.deliveryExchange, delivery: "x" }] }),
      /forwards\[0\]\.exchange.*the network has an exchange/,
    );
    assert.throws(() => make({ name: "n".repeat(245) }), /name: "n+\.return" is not allowed/);
    assert.throws(() => make({ network: undefined }), /network: undefined is not allowed/);
  });
});
