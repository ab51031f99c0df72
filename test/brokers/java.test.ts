import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { hasMaven, runMavenTests } from "../support/javaClient";
import { declareForPublishHelpers } from "../support/publishHelpers";

describe("the Java client", function () {
  // The first run fetches its libraries and Maven's plugins, and compiles.

  before(async function () {
    if (await hasMaven()) return;
    console.log("      no JDK with Maven: clients/java not run");
    this.skip();
  });

  onEachBroker((broker) => {
    it("passes all its tests, among them all vectors", async () => {
      // Maven's own end says nothing of the test that failed; so what it said before is looked at.
      const said = await runMavenTests(["--fail-never"], await declareForPublishHelpers(broker()));
      assert.match(said, /^\[INFO\] Tests run: 24, Failures: 0, Errors: 0, Skipped: 0$/m);
    });
  });
});
