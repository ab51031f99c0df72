package rabbitmqdelay;

import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Times encode for the network of NServiceBus, 28 binary levels; Maven runs it only by its name. */
class EncodeBench {
  private static final int CALLS = Integer.getInteger("calls", 200_000);
  private static final int REPETITIONS = Integer.getInteger("repetitions", 9);
  private static final Duration[] DELAYS = new Duration[1024];
  private int sink;

  static {
    for (int index = 0; index < DELAYS.length; index++) {
      DELAYS[index] = Duration.ofSeconds(index * 2_654_435_761L % 268_435_455);
    }
  }

  @Test
  void encode() {
    DelayNetwork network = Vectors.NETWORKS.get(0);
    Function<Duration, String> ours = delay -> network.encode(delay, "some-address").routingKey();
    for (int warm = 0; warm < 3; warm++) nanoseconds(ours);
    for (int warm = 0; warm < 3; warm++) nanoseconds(EncodeBench::join);
    for (int run = 0; run < REPETITIONS; run++) {
      System.out.printf("encode %.1f join %.1f%n", nanoseconds(ours), nanoseconds(EncodeBench::join));
    }
    if (sink == 0) throw new AssertionError("the calls were left out");
  }

  /** What one would write at first: binary digits, joined. */
  private static String join(Duration delay) {
    String digits = Long.toBinaryString(delay.plusNanos(999_999_999).toSeconds());
    return String.join(".", ("0".repeat(28 - digits.length()) + digits).split("")) + ".some-address";
  }

  private double nanoseconds(Function<Duration, String> call) {
    long start = System.nanoTime();
    for (int index = 0; index < CALLS; index++) sink += call.apply(DELAYS[index % DELAYS.length]).length();
    return (double) (System.nanoTime() - start) / CALLS;
  }
}
