import { strict as assert } from "node:assert";
import { DelayTopologyError, delayNetwork, planErrorQueues } from "@rabbitmq-delay/topology";
import { checkUserName, readCluster, readGatewayDeployment, readStackConfig } from "@rabbitmq-delay/topology/stack";

const password = "hunter2hunter2";
/** Texts with a password in them, none of which is a word or a name. */
const texts = [
  `user:${password}@host`,
  `user:${password}@host:5672/vhost`,
  `amqp://user:${password}`,
  `-----BEGIN PRIVATE KEY-----\n${password}`,
  `the password is ${password}`,
  `{"password":"${password}"}`,
  `?token=${password}`,
];
const cluster = { namespace: "messaging", storage: { className: "fast" } };
const network = { preset: "custom", prefix: "delay" };

/** Places where each text is refused. */
const places: Record<string, (text: never) => unknown> = {
  "a network's preset": (text) => delayNetwork({ preset: text }),
  "a network's queue type": (text) => delayNetwork({ preset: "custom", prefix: "delay", queueType: text }),
  "a user's name": (text) => checkUserName("user", `${text as string}@`),
  "the name of an error queue": (text) => planErrorQueues({ names: [`${text as string}@`] }),
  "a cluster's mode": (text) => readCluster({ ...cluster, mode: text }),
  "the kind of an issuer": (text) => readCluster({ ...cluster, tls: { issuer: "a", issuerKind: text } }),
  "a plugin": (text) => readCluster({ ...cluster, plugins: [text] }),
  "a cluster's processors": (text) => readCluster({ ...cluster, cpu: text }),
  "the administrator's name": (text) => readCluster({ ...cluster, username: text }),
  "a cluster's image": (text) => readCluster({ ...cluster, image: text }),
  "a network's preset in a config": (text) => readStackConfig({ network: { preset: text } }),
  "a prefix in a config": (text) => readStackConfig({ network: { ...network, prefix: `${text as string}@` } }),
  "a store's name": (text) => readStackConfig({ network, delayedStore: { storeName: `${text as string}@` } }),
  "a gateway's name": (text) => readStackConfig({ network, delayGateway: { gatewayName: `${text as string}@` } }),
  "a cluster's mode in a config": (text) => readStackConfig({ network, cluster: { ...cluster, mode: text } }),
};
/** Places beside secrets, where a word alone may be a password. */
const besideSecrets: Record<string, (text: string) => unknown> = {
  "a cluster's processors": (text) => readCluster({ ...cluster, cpu: text }),
  "the administrator's name": (text) => readCluster({ ...cluster, username: `${text}:${text}` }),
  "a cluster's image": (text) => readCluster({ ...cluster, image: text }),
  "a cluster's image in a config": (text) => readStackConfig({ network, cluster: { ...cluster, image: text } }),
  "the broker's address": (text) => readGatewayDeployment({ namespace: "n", image: "a:1", amqpUrl: text }),
  "a process's image": (text) => readGatewayDeployment({ namespace: "n", image: text, amqpUrl: "amqps://host" }),
};

/** Runs what is refused. @returns what is said of it */
function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof DelayTopologyError, String(error));
    return error.message;
  }
  return assert.fail("it was allowed");
}

// A login without a protocol, in the wrong place, stood in the log of a pipeline.
describe("what a refusal shows", () => {
  for (const [place, mistake] of Object.entries(places)) {
    it(`is no password in the place of ${place}`, () => {
      for (const text of texts) {
        const message = refusalOf(() => mistake(text as never));
        assert.doesNotMatch(message, /hunter2/, text);
        assert.match(message, /: this text is not allowed; /);
      }
    });
  }

  for (const [place, mistake] of Object.entries(besideSecrets)) {
    it(`is no word that could be a password in the place of ${place}`, () => {
      assert.match(
        refusalOf(() => mistake(password)),
        /: this text is not allowed; /,
      );
    });
  }

  it("is neither a value nor a name in an object or a list", () => {
    for (const given of [{ [password]: 1 }, { a: { [password]: password } }, [password], [{ [password]: 1 }]]) {
      for (const key of ["brokerPassword", "storePassword", "removal"])
        assert.doesNotMatch(
          refusalOf(() => readStackConfig({ network, [key]: given })),
          /hunter2/,
        );
      assert.doesNotMatch(
        refusalOf(() => readCluster({ ...cluster, password: given })),
        /hunter2/,
      );
    }
  });

  // The engine passes on what has parts as JSON.
  it("is no part of a password that has parts, which is none", () => {
    for (const text of [`{"x":"${password}"}`, `["${password}"]`, ` { "${password}" : 1 } `])
      for (const key of ["brokerPassword", "storePassword", "gatewayPassword"]) {
        const message = refusalOf(() => readStackConfig({ network, [key]: text }));
        assert.match(message, new RegExp(`^${key}: this text is not allowed; it must be a text without parts`));
      }
    for (const text of ["1234", "true", "null", '"quoted"', "{not JSON}"])
      assert.equal(readStackConfig({ network, brokerPassword: text }).brokerPassword, text);
  });

  it("is a word or a number where one of its sort belongs", () => {
    for (const [run, message] of [
      [() => delayNetwork({ preset: "nservicebuss" as never }), /^preset: "nservicebuss" is not allowed; /],
      [() => delayNetwork({ preset: "custom", prefix: "amq.größer" }), /^prefix: "amq\.größer" is not allowed; /],
      [() => readCluster({ ...cluster, replicas: 2 }), /^replicas: 2 is not allowed; /],
      [() => readCluster({ ...cluster, mode: "operatr" }), /^mode: "operatr" is not allowed; /],
      [() => planErrorQueues({ names: [] }), /^names: \[\] is not allowed; /],
      [() => planErrorQueues({ names: ["a:b", "a:b"] }), /^names\[1\]: "a:b" is not allowed; it is there twice/],
    ] as const)
      assert.match(refusalOf(run), message);
  });
});
