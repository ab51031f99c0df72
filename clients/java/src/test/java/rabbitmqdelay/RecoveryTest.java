package rabbitmqdelay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Publishes over a connection that is cut again and again, and that amqp-client recovers. */
@EnabledIfEnvironmentVariable(named = "RABBITMQ_URL", matches = ".+")
class RecoveryTest {
  private static final int WORKERS = 60;
  private static final int CUTS = 15;

  private final URI address = URI.create(System.getenv("RABBITMQ_URL"));
  private final DelayNetwork bare = DelayNetwork.parse(System.getenv("BARE_NETWORK"));
  private final Queue<Socket> open = new ConcurrentLinkedQueue<>();
  private final Set<String> done = ConcurrentHashMap.newKeySet();
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private final AtomicInteger refused = new AtomicInteger();
  private volatile boolean isOver;
  private Connection recovering;
  private DelayPublisher shared;

  /** Of a channel that was recovered, each confirm was taken for that of another message. */
  @Test
  @Timeout(120)
  void aConnectionThatRecoversConfirmsNoOtherMessage() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(address);
    try (Connection connection = factory.newConnection();
        ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Channel channel = connection.createChannel();
      channel.queueDeclare("full", true, false, false, Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
      channel.queueBind("full", bare.bindingExchange(), "#.full");
      channel.queuePurge("billing-bare");
      try (DelayPublisher filling = new DelayPublisher(connection, bare)) {
        filling.publish("full", new byte[0], Duration.ZERO);
      } catch (MessageNackedException e) {
        // It is full already.
      }
      beside(() -> lead(proxy));
      factory.setPort(proxy.getLocalPort());
      factory.setNetworkRecoveryInterval(20);
      recovering = factory.newConnection();
      List<Thread> workers = new CopyOnWriteArrayList<>();
      for (int index = 0; index < WORKERS; index++) {
        int worker = index;
        workers.add(beside(() -> publishUntilOver(worker)));
      }
      for (int count = 0; count < CUTS; count++) {
        Thread.sleep(400);
        cut();
      }
      isOver = true;
      for (Thread worker : workers) worker.join();
      recovering.abort(1000);
      assertEquals(List.of(), wrong);
      assertTrue(refused.get() > 0 && !done.isEmpty());
      for (GetResponse found; (found = channel.basicGet("billing-bare", true)) != null; ) {
        done.remove(new String(found.getBody(), StandardCharsets.UTF_8));
      }
      assertEquals(Set.of(), done, "these were said to be taken, and are in no queue");
    }
  }

  private void publishUntilOver(int worker) throws Exception {
    DelayPublisher publisher = renew(null);
    int failed = 0;
    for (int count = 0; !isOver; count++) {
      if (publisher == null) {
        publisher = renew(null);
        continue;
      }
      String to = count % 2 == 0 ? "billing-bare" : "full";
      String body = to + " " + worker + " " + count;
      try {
        publisher.publish(to, body.getBytes(StandardCharsets.UTF_8), Duration.ZERO);
        failed = 0;
        if (to.equals("full")) wrong.add(body + " was not taken");
        else done.add(body);
      } catch (MessageNackedException e) {
        if (to.equals("full")) refused.incrementAndGet();
        else wrong.add(body + " was not refused");
      } catch (IOException e) {
        // Long enough that a channel that is recovered would be there again.
        if (++failed % 30 == 0) publisher = renew(publisher);
        else Thread.sleep(5);
      }
    }
  }

  /** The publisher of all workers, and a new one in the place of one that is lost; null while there is no connection. */
  private synchronized DelayPublisher renew(DelayPublisher lost) throws InterruptedException {
    if (shared != lost) return shared;
    try {
      if (lost != null) lost.close();
    } catch (IOException | RuntimeException e) {
      // It is gone in any case.
    }
    try {
      shared = new DelayPublisher(recovering, bare);
    } catch (IOException | RuntimeException e) {
      shared = null;
      Thread.sleep(10);
    }
    return shared;
  }

  private void lead(ServerSocket proxy) throws IOException {
    while (!proxy.isClosed()) {
      Socket client = proxy.accept();
      Socket broker = new Socket(address.getHost(), address.getPort());
      open.addAll(List.of(client, broker));
      beside(() -> client.getInputStream().transferTo(broker.getOutputStream()));
      beside(() -> broker.getInputStream().transferTo(client.getOutputStream()));
    }
  }

  private void cut() throws IOException {
    for (Socket socket; (socket = open.poll()) != null; ) socket.close();
  }

  private interface Work {
    void run() throws Exception;
  }

  private static Thread beside(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Exception e) {
                // A socket that was closed, or what the assertions at the end find.
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
