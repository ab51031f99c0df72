import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { declareForPublishHelpers } from "../support/publishHelpers";
import { runPythonClient } from "../support/pythonClient";

describe("the Python client", function () {
  // The first run fetches its libraries.

  onEachBroker((broker) => {
    it("passes all its tests, among them all vectors", async () => {
      const environment = await declareForPublishHelpers(broker());
      const said = await runPythonClient(["-m", "unittest", "discover", "-s", "tests"], environment);
      assert.match(said, /^Ran 15 tests in .*\n\nOK$/m);
    });
  });
});
