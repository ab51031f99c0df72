// Sends a message with each delay, in milliseconds, and prints what arrives: go run . 0 5000 60000
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

func main() {
	connection, err := amqp.Dial(os.Getenv("RABBITMQ_URL"))
	check(err)
	channel, err := connection.Channel()
	check(err)
	// before: check(channel.ExchangeDeclare("shop", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "direct"}))
	check(channel.ExchangeDeclarePassive("shop", "headers", true, false, false, false, nil))
	_, err = channel.QueueDeclare("bills", true, false, false, false, nil)
	check(err)
	// before: check(channel.QueueBind("bills", "paid", "shop", false, nil))
	check(channel.QueueBind("bills", "paid", "shop.delivery", false, nil))
	check(channel.Confirm(false))

	for _, argument := range os.Args[1:] {
		delayMs, err := strconv.ParseInt(argument, 10, 64)
		check(err)
		confirmation, err := channel.PublishWithDeferredConfirm("shop", "paid", true, false, amqp.Publishing{
			Headers:      amqp.Table{"x-delay": delayMs},
			DeliveryMode: amqp.Persistent,
			Body:         []byte(strconv.FormatInt(time.Now().UnixMilli(), 10)),
		})
		check(err)
		_, err = confirmation.WaitContext(context.Background())
		check(err)
	}

	messages, err := channel.Consume("bills", "", false, false, false, false, nil)
	check(err)
	for message := range messages {
		sentAtMs, err := strconv.ParseInt(string(message.Body), 10, 64)
		check(err)
		fmt.Printf("%s after %d ms, x-delay %v\n", message.RoutingKey, time.Now().UnixMilli()-sentAtMs, message.Headers["x-delay"])
		check(message.Ack(false))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
