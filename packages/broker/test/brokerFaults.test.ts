import { strict as assert } from "node:assert";
import { brokerFaultIds, describeFault, faultsOf } from "@rabbitmq-delay/broker";

describe("the broker's own faults", () => {
  // A level can stop for good by each of them, and no check told which release mends it.
  it("are those that the version does not mend, older series included", () => {
    const ids = (version: string, allowed: string[] = []): string[] => faultsOf(version, allowed).map(({ id }) => id);
    assert.deepEqual(ids("3.10.8"), [...brokerFaultIds]);
    assert.deepEqual(ids("4.2.6"), ["dead-letter-wrong-member", "dead-letter-stuck", "purge-leaves-dead-letters"]);
    assert.deepEqual(ids("4.2.7"), ["dead-letter-stuck", "purge-leaves-dead-letters"]);
    assert.deepEqual(ids("4.3.0"), ["dead-letter-wrong-member", "dead-letter-stuck"]);
    assert.deepEqual(ids("4.3.2"), ["dead-letter-stuck"]);
    for (const mended of ["4.3.6", "4.3.10", "4.4.0", "5.0.0"]) assert.deepEqual(ids(mended), [], mended);
    assert.deepEqual(ids("4.3.2", ["dead-letter-stuck"]), []);
    assert.deepEqual(ids("unknown"), [...brokerFaultIds]);
  });

  it("say what they do, what mends them, and how to silence them", () => {
    const [fault] = faultsOf("4.3.0");
    assert.ok(fault);
    assert.match(
      describeFault("4.3.0", fault),
      /4\.3\.0: .*; RabbitMQ 4\.2\.7 and RabbitMQ 4\.3\.1 mend it, and allow: \[dead-letter-wrong-member\]/,
    );
  });
});
