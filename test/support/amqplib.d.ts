/** Both ends of the range that `@rabbitmq-delay/publish` takes; the older one has no types of its own. */
declare module "amqplib-oldest" {
  export * from "amqplib";
}
declare module "amqplib-newest" {
  export * from "amqplib";
}
