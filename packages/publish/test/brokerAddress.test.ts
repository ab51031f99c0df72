import { strict as assert } from "node:assert";
import { OpenRefusedError } from "../dist/errors";
import { connectionFailure } from "@rabbitmq-delay/publish/parts";

const failureOf = (text: string): { reason: string; isRefused: boolean } =>
  connectionFailure("amqp://user:secret@host/orders", new OpenRefusedError(text));

describe("a connection that the broker does not open", () => {
  // Texts of RabbitMQ 3.10.8 and 4.3.
  it("is refused for good for a vhost that is missing, or that the user may not use", () => {
    for (const text of [
      "NOT_ALLOWED - vhost orders not found",
      "NOT_ALLOWED - access to vhost 'orders' refused for user 'user'",
    ]) {
      const { reason, isRefused } = failureOf(text);
      assert.equal(isRefused, true);
      assert.match(reason, /^the broker at host refuses vhost orders: there is none of that name/);
    }
  });

  it("is refused at the moment for a limit, a vhost that is down, a backend that fails, and what is not known, without the user's name", () => {
    for (const [text, told] of [
      [
        "NOT_ALLOWED - access to vhost 'orders' refused for user 'user': connection limit (1) is reached",
        "access to vhost 'orders' refused: connection limit (1) is reached",
      ],
      [
        "NOT_ALLOWED - connection refused for user 'user': user connection limit (1) is reached",
        "connection refused: user connection limit (1) is reached",
      ],
      [
        "NOT_ALLOWED - connection refused: node connection limit (1) is reached",
        "connection refused: node connection limit (1) is reached",
      ],
      [
        "INTERNAL_ERROR - access to vhost 'orders' refused for user 'user': vhost 'orders' is down",
        "access to vhost 'orders' refused: vhost 'orders' is down",
      ],
      [
        "NOT_ALLOWED - access to vhost 'orders' refused for user 'user', backend http returned an error: timeout",
        "access to vhost 'orders' refused, backend http returned an error: timeout",
      ],
      ["NOT_ALLOWED - another reason", "another reason"],
    ] as const) {
      assert.deepEqual(failureOf(text), {
        reason: `the broker at host opens no connection at the moment: ${told}`,
        isRefused: false,
      });
    }
  });

  it("is not refused for good where the broker's reason could not be asked for", () => {
    const error = new Error("Expected ConnectionOpenOk; got <ConnectionClose channel:0>");
    assert.deepEqual(connectionFailure("amqp://user:secret@host/orders", error), {
      reason: "the broker at host opens no connection to vhost orders",
      isRefused: false,
    });
  });
});
