package example;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.time.Duration;
import java.time.Instant;
import rabbitmqdelay.DelayNetwork;
import rabbitmqdelay.DelayPublisher;
import rabbitmqdelay.MessageReturnedException;
import rabbitmqdelay.Receipt;

class Invoices {
  static void send(String url, String descriptor) throws Exception {
    // The stack's output: pulumi stack output delayNetwork
    DelayNetwork network = DelayNetwork.parse(descriptor);
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(url);
    try (Connection connection = factory.newConnection();
        DelayPublisher publisher = new DelayPublisher(connection, network)) {
      Receipt receipt = publisher.publish("billing", "an invoice".getBytes(), Duration.ofMinutes(5));
      System.out.println(receipt.messageId() + " arrives at " + receipt.dueAt());

      publisher.publish("billing", "a reminder".getBytes(), Instant.now().plus(Duration.ofDays(30)));
    } catch (MessageReturnedException e) {
      System.err.println("nothing is bound for " + e.destination());
      throw e;
    }
  }
}
