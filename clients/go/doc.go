// Package rabbitmqdelay publishes delayed messages on plain RabbitMQ, through queues that a stack of rabbitmq-delay declared.
//
// [ParseDelayNetwork] and [ParseRetryIntervals] read what the stack exports. What they give tells to which exchange and by which key a
// message is published so that it arrives after a delay. A [Publisher] publishes it with github.com/rabbitmq/amqp091-go.
package rabbitmqdelay
