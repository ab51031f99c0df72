import java.net.URI;
import java.util.List;
import org.springframework.amqp.core.HeadersExchange;
import org.springframework.amqp.core.MessageBuilder;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** Sends x-delay in each type in which Spring AMQP writes a whole number, and as text; each body is `TYPE MILLISECONDS`. */
public class Types {
    public static void main(String[] arguments) {
        var connections = new CachingConnectionFactory(URI.create(System.getenv("RABBITMQ_URL")));
        connections.setPublisherConfirmType(CachingConnectionFactory.ConfirmType.SIMPLE);
        new RabbitAdmin(connections).declareExchange(new HeadersExchange("shop"));
        var delays = List.<Object>of((byte) 100, (short) 300, 300, 300L, 5_000_000_000L, "300", 301L, -300L);
        new RabbitTemplate(connections).invoke(template -> {
            for (var delay : delays) {
                var body = delay.getClass().getSimpleName() + " " + delay;
                template.send("shop", "paid", MessageBuilder.withBody(body.getBytes()).setHeader("x-delay", delay).build());
                template.waitForConfirmsOrDie(10_000);
                System.out.println(body);
            }
            return null;
        });
        connections.destroy();
    }
}
