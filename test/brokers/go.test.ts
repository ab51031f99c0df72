import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { runGoTests } from "../support/goClient";
import { declareForPublishHelpers } from "../support/publishHelpers";

describe("the Go client", function () {
  // The first run fetches its libraries, and compiles them.

  onEachBroker((broker) => {
    it("passes all its tests, among them all vectors", async () => {
      const said = await runGoTests(["-v", "-count=1"], await declareForPublishHelpers(broker()));
      assert.equal(said.match(/^--- PASS: Test/gm)?.length, 15, said);
      assert.doesNotMatch(said, /--- (SKIP|FAIL)/);
    });
  });
});
