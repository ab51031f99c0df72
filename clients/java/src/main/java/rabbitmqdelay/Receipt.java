package rabbitmqdelay;

import java.time.Duration;
import java.time.Instant;

/**
 * What became of a message that the broker has confirmed.
 *
 * @param exchange the exchange that it was published to
 * @param routingKey its routing key
 * @param delay the delay that the network keeps
 * @param dueAt when the message is due
 * @param messageId its own, or the one that was made up
 */
public record Receipt(String exchange, String routingKey, Duration delay, Instant dueAt, String messageId) {}
