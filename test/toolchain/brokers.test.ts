import { strict as assert } from "node:assert";
import { brokerLabel, checkVersion } from "../support/brokers";

// "All tests, on 3.10 and 4.3" was green on any two brokers: a fault that 3.10 alone has was then never looked for.
describe("the brokers that tests run on", () => {
  it("give suites the name of the version that is run", () => {
    assert.equal(brokerLabel("3.10", "3.10.8"), "RabbitMQ 3.10");
    assert.equal(brokerLabel("3.10", "3.100.1"), "RabbitMQ 3.100.1, in place of 3.10");
    assert.equal(brokerLabel("4.3", "4.1.0"), "RabbitMQ 4.1.0, in place of 4.3");
  });

  it("fail in CI, and wherever the name would be another's", () => {
    checkVersion("4.3.6", "4.3", "RabbitMQ 4.3", true);
    checkVersion("4.1.0", "4.3", "RabbitMQ 4.1.0, in place of 4.3", false);
    assert.throws(
      () => checkVersion("4.1.0", "4.3", "RabbitMQ 4.1.0, in place of 4.3", true),
      /for RabbitMQ 4\.3.* is 4\.1\.0/,
    );
    assert.throws(() => checkVersion("3.12.1", "3.10", "RabbitMQ 3.10", false), /this machine's broker is 3\.12\.1/);
  });
});
