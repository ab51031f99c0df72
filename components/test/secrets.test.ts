import { strict as assert } from "node:assert";
import { DelayTopologyError, delayNetwork } from "rabbitmq-delay-topology";
import { DelayLevelTopology, EndpointDelayBinding, EndpointUser } from "rabbitmq-delay";

const password = "hunter2hunter2";
const network = delayNetwork({ preset: "celery" });

describe("a password that stands in the wrong place", () => {
  const mistakes: Record<string, () => unknown> = {
    "in the place of a descriptor, in an address": () =>
      new EndpointDelayBinding("x", { endpoint: "x", network: `amqps://u:${password}@h` as never }),
    "as the broker's version": () =>
      new DelayLevelTopology("x", { preset: "celery" as never, brokerVersion: password }),
    "as a suffix": () => new EndpointUser("x", { user: "u", credentials: [{ suffix: `a@${password}` }], network }),
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
