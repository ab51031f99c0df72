"use strict";

const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");

const { RABBITMQ_MANAGEMENT_URL, RABBITMQ_USERNAME = "guest", RABBITMQ_PASSWORD = "guest" } = process.env;

/** Where the broker is, as .local/env says. */
exports.broker = {
  managementUrl: RABBITMQ_MANAGEMENT_URL,
  username: RABBITMQ_USERNAME,
  password: RABBITMQ_PASSWORD,
};

/** The provider by which an example declares. */
exports.provider = new rabbitmq.Provider("broker", {
  endpoint: RABBITMQ_MANAGEMENT_URL,
  username: RABBITMQ_USERNAME,
  password: pulumi.secret(RABBITMQ_PASSWORD),
});

/** A plain quorum queue, e.g. for errors. */
exports.queue = (name) =>
  new rabbitmq.Queue(
    name,
    { name, settings: { durable: true, argumentsJson: '{"x-queue-type":"quorum"}' } },
    { provider: exports.provider },
  );
