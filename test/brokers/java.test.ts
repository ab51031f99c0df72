import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { hasMaven, runMavenTests } from "../support/javaClient";
import { skipUnless } from "../support/missingPrograms";
import { declareForPublishHelpers } from "../support/publishHelpers";

describe("the Java client", function () {
  // The first run fetches its libraries and Maven's plugins, and compiles.

  before(async function () {
    skipUnless(await hasMaven(), this, "this machine has no JDK with Maven");
  });

  onEachBroker((broker) => {
    it("passes all its tests, among them all vectors", async () => {
      // Maven's own end says nothing of the test that failed; so what it said before is looked at.
      const said = await runMavenTests(["--fail-never"], await declareForPublishHelpers(broker()));
      assert.match(said, /^\[INFO\] Tests run: 24, Failures: 0, Errors: 0, Skipped: 0$/m);
    });
  });
});
