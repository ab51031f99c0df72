package rabbitmqdelay;

import java.time.Duration;

/**
 * Where and by which key a message is published so that it arrives after its delay.
 *
 * @param exchange the exchange of the highest level that delays the message
 * @param routingKey a word for each level, and then the destination
 * @param level the level of that exchange; 0 for no delay
 * @param delay the delay that the network will keep: the one asked for, rounded up
 * @param hops in how many queues the message waits, one after another
 */
public record EncodedDelay(String exchange, String routingKey, int level, Duration delay, int hops) {}
