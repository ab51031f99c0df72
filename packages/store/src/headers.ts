/** Headers by which a message says when and where it is to be delivered. */
export const storeHeaders = {
  /** Delay in milliseconds, as the archived plugin reads it; a delivered message has it with the sign turned, as from the plugin. */
  delay: "x-delay",
  /** When it is due instead: ISO-8601 text, an AMQP timestamp, or milliseconds since 1970. */
  deliverAt: "x-deliver-at",
  /** Exchange that it is published to when due. */
  exchange: "x-deliver-exchange",
  /** Routing key that it then has. */
  routingKey: "x-deliver-routing-key",
  /** The publisher's user id, which the broker would refuse from another user. */
  userId: "rabbitmq-delay.user-id",
  /** The message's own TTL, while it lies in the error queue. */
  expiration: "rabbitmq-delay.expiration",
  /** Names of the properties that a copy for the error queue goes without, because nobody could send it with them. */
  omitted: "rabbitmq-delay.omitted",
} as const;

/** Headers whose lists a broker takes for further routing keys; source: RabbitMQ's sender-selected distribution. */
export const furtherKeyHeaders = ["CC", "BCC"];
