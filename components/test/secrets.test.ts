import { strict as assert } from "node:assert";
import { DelayTopologyError, delayNetwork } from "@rabbitmq-delay/topology";
import { DelayLevelTopology, EndpointDelayBinding, EndpointUser } from "pulumi-rabbitmq-delay";
import { StoreDeploymentArgs, storeProcess } from "../dist/process/storeDeployment";

const password = "hunter2hunter2";
const network = delayNetwork({ preset: "celery" });
/** A store's process, with something in the wrong place. */
const deploy = (wrong: Partial<StoreDeploymentArgs>): unknown =>
  storeProcess({ namespace: "n", image: "store:1.0", amqpUrl: "amqps://h:5671", databaseSecret: "db", ...wrong }, true);

describe("a password that stands in the wrong place", () => {
  const mistakes: Record<string, () => unknown> = {
    "in the place of a descriptor, in an address": () =>
      new EndpointDelayBinding("x", { endpoint: "x", network: `amqps://u:${password}@h` as never }),
    "as the broker's version": () =>
      new DelayLevelTopology("x", { preset: "celery" as never, brokerVersion: password }),
    "as a suffix": () => new EndpointUser("x", { user: "u", credentials: [{ suffix: `a@${password}` }], network }),
    "as the address of a broker in the place of a name": () =>
      new EndpointDelayBinding("x", { endpoint: `amqp://guest:${password}@rabbit`, network }),
    "as such an address in the place of a user": () =>
      new EndpointUser("x", { user: `amqp://guest:${password}@rabbit`, credentials: [{}], network }),
    // A preview's output is kept by the forge for whoever may read the pull request.
    "in the broker's address": () => deploy({ amqpUrl: `amqps://store:${password}@rabbit:5671` }),
    "in the place of a Secret's name": () => deploy({ databaseSecret: `postgres://store:${password}@db/orders` }),
    "in the place of an image": () => deploy({ image: `postgres://store:${password}@db/orders` }),
    "as a key in the place of a Secret's name": () => deploy({ caSecret: `-----BEGIN PRIVATE KEY-----\n${password}` }),
    "as a login": () => new EndpointUser("x", { user: "u", credentials: [password as never], network }),
  };
  for (const [place, mistake] of Object.entries(mistakes)) {
    it(`${place} is refused, and not shown`, () => {
      assert.throws(mistake, (error: Error) => {
        assert.equal(error.name, DelayTopologyError.name);
        return !error.message.includes(password);
      });
    });
  }
});
