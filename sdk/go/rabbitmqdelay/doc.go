// Pulumi components that declare delayed and retried messages on plain RabbitMQ.
package rabbitmqdelay
