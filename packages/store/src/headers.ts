/** Headers by which a message says when and where it is to be delivered. */
export const storeHeaders = {
  /** Delay in milliseconds, as the archived plugin reads it; a delivered message has it with its sign turned, as with the plugin. */
  delay: "x-delay",
  /** The due time instead: ISO-8601 text, an AMQP timestamp, or milliseconds since 1970. */
  deliverAt: "x-deliver-at",
  /** Exchange to which the message is published when due. */
  exchange: "x-deliver-exchange",
  /** Its routing key then. */
  routingKey: "x-deliver-routing-key",
  /** The publisher's user id, which the broker would refuse from another user. */
  userId: "rabbitmq-delay.user-id",
  /** The message's own TTL, while it is in the error queue. */
  expiration: "rabbitmq-delay.expiration",
  /** Names of the properties that a copy for the error queue lacks, because nobody could send it with them. */
  omitted: "rabbitmq-delay.omitted",
} as const;

/** Headers whose lists a broker uses as further routing keys; source: RabbitMQ's sender-selected distribution. */
export const furtherKeyHeaders = ["CC", "BCC"];
