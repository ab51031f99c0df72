/** What a client library can put on the wire. */
export interface ClientLibrary {
  name: "amqplib" | "rabbitmq-client";
  /** Most bytes of a message's properties, as AMQP; more would end the channel or the connection. */
  maximumPropertiesBytes: number;
}
