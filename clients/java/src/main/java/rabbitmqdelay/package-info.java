/**
 * Delayed messages on plain RabbitMQ, through queues that a stack of rabbitmq-delay declared.
 *
 * <p>{@link rabbitmqdelay.DelayNetwork} and {@link rabbitmqdelay.RetryIntervals} read what the stack exports, and tell to which exchange and
 * by which key a message is published so that it arrives after a delay. {@link rabbitmqdelay.DelayPublisher} publishes it.
 */
package rabbitmqdelay;
