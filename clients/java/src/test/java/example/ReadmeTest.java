package example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

class ReadmeTest {
  @Test
  void theReadmeHasInvoicesWordForWord() throws IOException {
    String code = Files.readString(Path.of("src", "test", "java", "example", "Invoices.java"));
    assertTrue(Files.readString(Path.of("README.md")).contains("```java\n" + code.replace("package example;\n\n", "") + "```"));
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "RABBITMQ_URL", matches = ".+")
  void itRuns() throws Exception {
    Invoices.send(System.getenv("RABBITMQ_URL"), System.getenv("NSERVICEBUS_NETWORK"));
  }
}
