// Sends x-delay in each type in which amqp091-go writes a whole number, and as text; each body is `TYPE MILLISECONDS`.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	amqp "github.com/rabbitmq/amqp091-go"
)

func main() {
	connection, err := amqp.Dial(os.Getenv("RABBITMQ_URL"))
	check(err)
	defer connection.Close()
	channel, err := connection.Channel()
	check(err)
	check(channel.ExchangeDeclare("shop", "headers", true, false, false, false, nil))
	check(channel.Confirm(false))
	delays := []any{
		byte(100), int8(100), int16(300), uint16(300), int(300), int32(300), uint32(300), int64(300), "300", int64(301), int32(-300),
	}
	for _, delay := range delays {
		confirmation, err := channel.PublishWithDeferredConfirm("shop", "paid", true, false, amqp.Publishing{
			Headers: amqp.Table{"x-delay": delay},
			Body:    []byte(fmt.Sprintf("%T %v", delay, delay)),
		})
		check(err)
		_, err = confirmation.WaitContext(context.Background())
		check(err)
		fmt.Printf("%T %v\n", delay, delay)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
