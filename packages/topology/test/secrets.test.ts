import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { describeDelay, parseDelay, readableDelay } from "@rabbitmq-delay/topology";
import { shownAddress } from "@rabbitmq-delay/topology/stack";

describe("an address in a message", () => {
  // A password with an unescaped @ or / stood in the error, and so in the log of a CI.
  it("shows no part of a password, whatever is in it and however malformed the address is", () => {
    const part = fc.stringMatching(/^[A-Za-z0-9]{5,9}$/).map((text) => `7${text}q`);
    const joint = fc.constantFrom("@", "/", "#", "?", ":", "%", "%zz", "\\", " ", "@@", "/@", ":@/");
    const secret = fc.array(fc.tuple(part, joint), { minLength: 1, maxLength: 4 });
    const scheme = fc.constantFrom(
      "http://",
      "https://",
      "amqp://",
      "amqps://",
      "http:",
      "http:/",
      "",
      "//",
      "ht tp://",
    );
    const rest = fc.constantFrom("h:15672", "h:15672/path", "h", "", "h:port", "[::1]:5672/v");
    fc.assert(
      fc.property(scheme, secret, rest, (start, pieces, end) => {
        const address = `${start}user:${pieces.flat().join("")}@${end}`;
        const shown = shownAddress(address);
        for (const [piece] of pieces) assert.ok(!shown.includes(piece), `${address} is shown as ${shown}`);
      }),
      { numRuns: 2000 },
    );
    // Digits alone could be taken for a port.
    assert.equal(shownAddress("http://user:1234/word@host:15672"), "an address that can't be read");
    assert.equal(shownAddress("http://user:1234#word@host:15672"), "an address that can't be read");
  });

  it("shows where it leads", () => {
    assert.equal(shownAddress("https://user:pass@host.example:15671/rabbit/"), "https://host.example:15671/rabbit");
    assert.equal(shownAddress("amqp://guest:guest@127.0.0.1:5672/shop"), "amqp://127.0.0.1:5672/shop");
    assert.equal(shownAddress(undefined), "an address that can't be read");
  });
});

describe("a delay for people", () => {
  it("is readable where it is long, and exact", () => {
    assert.equal(readableDelay(268_435_455_000), "8y 186d 21h 24m 15s");
    assert.equal(describeDelay(268_435_455_000), "8y 186d 21h 24m 15s (268435455000 ms)");
    for (const text of ["0ms", "1500ms", "10s", "100s", "90m", "2h", "2d"])
      assert.equal(readableDelay(parseDelay(text)), text);
    assert.equal(readableDelay(1_000_003), "16m 40s 3ms");
  });
});
