import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import rabbitmqdelay.DelayNetwork;

/** Encodes a delay of ten seconds to Sales. */
class Encode {
  public static void main(String[] args) throws Exception {
    DelayNetwork network = DelayNetwork.parse(Files.readString(Path.of("network.json")));
    System.out.println(network.encode(Duration.ofSeconds(10), "Sales").routingKey());
  }
}
