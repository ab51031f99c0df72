import java.net.URI;
import org.springframework.amqp.core.*;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.*;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;

/** Sends a message with each delay, in milliseconds, and prints what arrives: java -cp 'jars/*' Shop.java 0 5000 60000 */
public class Shop {
    @Bean
    Exchange delayed() {
        // before: return ExchangeBuilder.directExchange("shop").delayed().build();
        return ExchangeBuilder.directExchange("shop").suppressDeclaration().build(); // shouldDeclare = false
    }

    @Bean
    Queue bills() {
        return new Queue("bills");
    }

    @Bean
    Binding paid(Exchange delayed, Queue bills) {
        // before: return BindingBuilder.bind(bills).to(delayed).with("paid").noargs();
        return BindingBuilder.bind(bills).to(new DirectExchange("shop.delivery")).with("paid");
    }

    @Bean
    SimpleMessageListenerContainer listener(ConnectionFactory connections) {
        var listener = new SimpleMessageListenerContainer(connections);
        listener.setQueueNames("bills");
        listener.setMessageListener(message -> {
            var properties = message.getMessageProperties();
            var afterMs = System.currentTimeMillis() - Long.parseLong(new String(message.getBody()));
            var delayMs = properties.getReceivedDelayLong();
            System.out.printf("%s after %d ms, x-delay %d%n", properties.getReceivedRoutingKey(), afterMs, delayMs);
        });
        return listener;
    }

    @Bean
    ConnectionFactory connections() {
        return new CachingConnectionFactory(URI.create(System.getenv("RABBITMQ_URL")));
    }

    @Bean
    RabbitAdmin admin(ConnectionFactory connections) {
        return new RabbitAdmin(connections);
    }

    public static void main(String[] delaysMs) {
        var shop = new AnnotationConfigApplicationContext(Shop.class);
        var template = new RabbitTemplate(shop.getBean(ConnectionFactory.class));
        for (var delayMs : delaysMs) {
            template.convertAndSend("shop", "paid", String.valueOf(System.currentTimeMillis()), message -> {
                message.getMessageProperties().setDelayLong(Long.parseLong(delayMs));
                return message;
            });
        }
    }
}
