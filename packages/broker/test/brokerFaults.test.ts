import { strict as assert } from "node:assert";
import { brokerFaultIds, describeFault, faultsOf } from "@rabbitmq-delay/broker";

describe("the broker's own faults", () => {
  // A level can stop for good by each of them, and no check told which release mends it.
  it("are those that the version does not mend, older series included", () => {
    const ids = (version: string, allowed: string[] = []): string[] => faultsOf(version, allowed).map(({ id }) => id);
    const old = brokerFaultIds.slice(0, 4);
    assert.deepEqual(ids("3.10.8"), [...old, "dead-letter-to-itself"]);
    for (const mended of ["3.11.20", "3.12.2", "3.13.7"]) assert.deepEqual(ids(mended), old, mended);
    const early4 = ["dead-letter-wrong-member", "dead-letter-stuck", "purge-leaves-dead-letters"];
    assert.deepEqual(ids("4.0.4"), [...early4, "dead-letter-crash"]);
    for (const mended of ["4.0.5", "4.1.0"]) assert.deepEqual(ids(mended), early4, mended);
    assert.deepEqual(ids("4.2.6"), ["dead-letter-wrong-member", "dead-letter-stuck", "purge-leaves-dead-letters"]);
    assert.deepEqual(ids("4.2.7"), ["dead-letter-stuck", "purge-leaves-dead-letters"]);
    const upgraded = "uncounted-after-upgrade";
    assert.deepEqual(ids("4.3.0"), ["dead-letter-wrong-member", "dead-letter-stuck", "empty-key-elsewhere", upgraded]);
    assert.deepEqual(ids("4.3.2"), ["dead-letter-stuck", upgraded]);
    assert.deepEqual(ids("4.3.3"), [upgraded]);
    for (const mended of ["4.3.4", "4.3.6", "4.3.10"]) assert.deepEqual(ids(mended), [], mended);
    assert.deepEqual(ids("4.3.2", ["dead-letter-stuck"]), [upgraded]);
    assert.deepEqual(ids("unknown"), [...brokerFaultIds]);
  });

  // A check of a release that was not out yet when the table was written was silent, as if nothing was wrong with it.
  it("say of a newer release than the table's that its faults are not known", () => {
    for (const version of ["4.4.0", "4.4.1", "5.0.0"]) {
      const [fault, ...others] = faultsOf(version);
      assert.ok(fault);
      assert.deepEqual(others, []);
      assert.equal(
        describeFault(version, fault),
        `the broker is RabbitMQ ${version}: faults are known here of releases up to 4.3 alone; read the release notes of this ` +
          "one, and allow: [newer-release] silences this",
      );
    }
    assert.deepEqual(faultsOf("4.4.0", ["newer-release"]), []);
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
