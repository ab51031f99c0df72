/** What a client library can put on the wire. */
export interface ClientLibrary {
  name: "amqplib" | "rabbitmq-client";
  /** The largest size of a message's properties in bytes, as AMQP encodes them; larger ones would end the channel or the connection. */
  maximumPropertiesBytes: number;
}
