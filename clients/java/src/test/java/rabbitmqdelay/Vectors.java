package rabbitmqdelay;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What the reference in TypeScript makes: clients/vectors.json. */
final class Vectors {
  static final Map<String, Object> ALL = read();
  static final List<DelayNetwork> NETWORKS = list("networks").stream().map(DelayNetwork::of).toList();

  private Vectors() {}

  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> list(String name) {
    return (List<Map<String, Object>>) ALL.get(name);
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }

  static DelayNetwork network(Map<String, Object> vector) {
    return NETWORKS.get(integer(vector.get("network")));
  }

  static int integer(Object value) {
    return ((Number) value).intValue();
  }

  /** In microseconds, which are as fine as the vectors get. */
  static Duration milliseconds(Object value) {
    double microseconds = ((Number) value).doubleValue() * 1000;
    return Duration.ofSeconds((long) (microseconds / 1e6), (long) (microseconds % 1e6) * 1000);
  }

  private static Map<String, Object> read() {
    try {
      return object(Json.read(Files.readString(Path.of("..", "vectors.json"))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
