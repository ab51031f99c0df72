package rabbitmqdelay_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	rabbitmqdelay "github.com/rabbitmq-delay/rabbitmq-delay/clients/go"
)

func sendInvoices(ctx context.Context) error {
	// The stack's output: pulumi stack output delayNetwork
	network, err := rabbitmqdelay.ParseDelayNetwork([]byte(os.Getenv("DELAY_NETWORK")))
	if err != nil {
		return err
	}
	connection, err := amqp.Dial(os.Getenv("RABBITMQ_URL"))
	if err != nil {
		return err
	}
	defer connection.Close()
	publisher, err := rabbitmqdelay.NewPublisher(connection, network)
	if err != nil {
		return err
	}
	defer publisher.Close()

	receipt, err := publisher.Publish(ctx, "billing", 5*time.Minute, amqp.Publishing{Body: []byte("an invoice")})
	if err != nil {
		return err
	}
	fmt.Println(receipt.MessageID, "arrives at", receipt.DueAt)

	due := time.Now().AddDate(0, 0, 30)
	_, err = publisher.PublishAt(ctx, "billing", due, amqp.Publishing{Body: []byte("a reminder")})
	var returned *rabbitmqdelay.MessageReturnedError
	if errors.As(err, &returned) {
		log.Print("nothing is bound for ", returned.Destination)
	}
	return err
}

// The code of the README is sendInvoices, word for word.
func TestTheReadmeRuns(t *testing.T) {
	readme, own := textOf(t, "README.md"), textOf(t, "readme_test.go")
	_, rest, _ := strings.Cut(readme, "```go\n")
	code, _, isThere := strings.Cut(rest, "```")
	if !isThere {
		t.Fatal("no code in README.md")
	}
	_, body, _ := strings.Cut(code, "\n\n")
	if !strings.Contains(own, body) {
		t.Error("README.md has other code")
	}
	if os.Getenv("RABBITMQ_URL") == "" {
		t.Skip("RABBITMQ_URL is not set")
	}
	t.Setenv("DELAY_NETWORK", os.Getenv("NSERVICEBUS_NETWORK"))
	if err := sendInvoices(context.Background()); err != nil {
		t.Error(err)
	}
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
