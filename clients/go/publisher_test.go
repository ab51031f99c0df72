package rabbitmqdelay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// connect connects to the broker of the environment, which also has the networks; without them, the test is skipped.
func connect(t *testing.T) *amqp.Connection {
	t.Helper()
	url := os.Getenv("RABBITMQ_URL")
	if url == "" {
		t.Skip("RABBITMQ_URL is not set")
	}
	connection, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

func network(t *testing.T, name string) *DelayNetwork {
	t.Helper()
	read, err := ParseDelayNetwork([]byte(os.Getenv(name + "_NETWORK")))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func publisherOf(t *testing.T, connection *amqp.Connection, network *DelayNetwork, options ...Option) *Publisher {
	t.Helper()
	publisher, err := NewPublisher(connection, network, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = publisher.Close() })
	return publisher
}

// received is a message, and when it came.
type received struct {
	amqp.Delivery
	at time.Time
}

// receive gets the messages of the endpoint by their bodies.
func receive(t *testing.T, connection *amqp.Connection, count int) map[string]received {
	t.Helper()
	channel, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	found := map[string]received{}
	for end := time.Now().Add(time.Minute); len(found) < count && time.Now().Before(end); {
		delivery, isThere, err := channel.Get("billing", true)
		if err != nil {
			t.Fatal(err)
		}
		if !isThere {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if _, isTwice := found[string(delivery.Body)]; isTwice {
			t.Errorf("%s comes twice", delivery.Body)
		}
		found[string(delivery.Body)] = received{delivery, time.Now()}
	}
	if len(found) != count {
		t.Fatalf("%d of %d messages came", len(found), count)
	}
	return found
}

func purge(t *testing.T, connection *amqp.Connection) {
	t.Helper()
	channel, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	if _, err := channel.QueuePurge("billing", false); err != nil {
		t.Fatal(err)
	}
}

func TestPublishesByDelayAndByTime(t *testing.T) {
	connection := connect(t)
	purge(t, connection)
	publisher := publisherOf(t, connection, network(t, "PARKED"))
	given := amqp.Publishing{Headers: amqp.Table{"own": "kept", "x-death": []any{}, "x-last-death-queue": "a"}}
	type sent struct {
		receipt Receipt
		at      time.Time
		delay   time.Duration
	}
	all := map[string]sent{}
	var mutex sync.Mutex
	var group sync.WaitGroup
	// Side by side: each has its own confirm.
	for _, delay := range []time.Duration{0, 50 * time.Millisecond, 777 * time.Millisecond, 1200 * time.Millisecond} {
		for _, isTime := range []bool{false, true} {
			group.Add(1)
			go func(delay time.Duration, isTime bool) {
				defer group.Done()
				message, now := given, time.Now()
				message.Body = []byte(fmt.Sprint(delay, isTime))
				var receipt Receipt
				var err error
				if isTime {
					receipt, err = publisher.PublishAt(context.Background(), "billing", now.Add(delay), message)
				} else {
					receipt, err = publisher.Publish(context.Background(), "billing", delay, message)
				}
				if err != nil {
					t.Error(err)
				}
				mutex.Lock()
				defer mutex.Unlock()
				all[string(message.Body)] = sent{receipt, now, delay}
			}(delay, isTime)
		}
	}
	group.Wait()
	if len(given.Headers) != 3 {
		t.Error("what the caller gave is copied")
	}
	for body, came := range receive(t, connection, len(all)) {
		expected := all[body]
		if came.at.Before(expected.at.Add(expected.delay)) {
			t.Errorf("%s came early", body)
		}
		// What is left of a time by then may be a little less than the delay.
		if expected.receipt.Delay < expected.delay-10*time.Millisecond || expected.receipt.DueAt.Before(expected.at.Add(expected.delay)) {
			t.Errorf("%s: %+v", body, expected.receipt)
		}
		if came.MessageId != expected.receipt.MessageID || came.DeliveryMode != amqp.Persistent {
			t.Errorf("%s: %+v", body, came.Delivery)
		}
		if came.Headers["own"] != "kept" || came.Headers[dueHeader] == nil || came.Headers["x-last-death-queue"] == "a" {
			t.Errorf("%s: %v", body, came.Headers)
		}
	}
}

func TestAMessageThatNoQueueTakesIsAnError(t *testing.T) {
	publisher := publisherOf(t, connect(t), network(t, "BARE"))
	_, err := publisher.Publish(context.Background(), "nobody", 0, amqp.Publishing{})
	var returned *MessageReturnedError
	if !errors.As(err, &returned) || returned.Destination != "nobody" || !strings.Contains(err.Error(), "nobody") {
		t.Fatal(err)
	}
	var notTaken PublishError
	if !errors.As(err, &notTaken) {
		t.Error("it is a PublishError")
	}
	// Each knows of its own message, also where several have one id.
	for _, id := range []string{"", "order 7"} {
		var group sync.WaitGroup
		for index := 0; index < 200; index++ {
			group.Add(1)
			go func(isTaken bool) {
				defer group.Done()
				destination := "nobody"
				if isTaken {
					destination = "billing-bare"
				}
				_, err := publisher.Publish(context.Background(), destination, 0, amqp.Publishing{MessageId: id})
				var returned *MessageReturnedError
				if isTaken && err != nil || !isTaken && !errors.As(err, &returned) {
					t.Errorf("%s: %v", destination, err)
				}
			}(index%2 == 0)
		}
		group.Wait()
	}
}

func TestWhatWouldBeEarlyLostOrCopiedIsRefusedBeforeItIsSent(t *testing.T) {
	connection := connect(t)
	purge(t, connection)
	parked := network(t, "PARKED")
	publisher := publisherOf(t, connection, parked)
	long := strings.Repeat("x", 256)
	circle := amqp.Table{}
	circle["again"] = circle
	for _, tried := range []struct {
		message   amqp.Publishing
		delay     time.Duration
		tolerance float64
		argument  string
	}{
		{amqp.Publishing{Expiration: "5"}, 0, 0, "message.Expiration"},
		{amqp.Publishing{DeliveryMode: amqp.Transient}, 0, 0, "message.DeliveryMode"},
		{amqp.Publishing{Headers: amqp.Table{"CC": []any{"a"}}}, 0, 0, "message.Headers.CC"},
		{amqp.Publishing{Headers: amqp.Table{"BCC": []any{"a"}}}, 0, 0, "message.Headers.BCC"},
		{amqp.Publishing{Headers: amqp.Table{"own": struct{}{}}}, 0, 0, "message.Headers"},
		{amqp.Publishing{Headers: amqp.Table{long: 1}}, 0, 0, "message.Headers"},
		{amqp.Publishing{Headers: amqp.Table{"table": amqp.Table{long: 1}}}, 0, 0, "message.Headers.table"},
		{amqp.Publishing{Headers: amqp.Table{"long": strings.Repeat(long, 1000)}}, 0, 0, "message.Headers"},
		{amqp.Publishing{Headers: amqp.Table{"list": []any{amqp.Table{"n": math.NaN()}}}}, 0, 0, "message.Headers.list[0].n"},
		{amqp.Publishing{Headers: amqp.Table{"number": float32(math.Inf(1))}}, 0, 0, "message.Headers.number"},
		{amqp.Publishing{Headers: circle}, 0, 0, "message.Headers"},
		{amqp.Publishing{CorrelationId: long}, 0, 0, "message.CorrelationId"},
		{amqp.Publishing{}, 0, -1, "tolerance"},
		{amqp.Publishing{}, parked.MaximumDelay() + 1, 0, "delay"},
	} {
		_, err := publisher.Publish(context.Background(), "billing", tried.delay, tried.message, WithTolerance(tried.tolerance))
		if argument := refusedArgument(t, err); argument != tried.argument {
			t.Errorf("%s: %v", tried.argument, err)
		}
	}
	_, err := publisher.PublishAt(context.Background(), "billing", time.Time{}, amqp.Publishing{})
	if argument := refusedArgument(t, err); argument != "due" {
		t.Error(argument)
	}
	_, err = NewPublisher(connection, parked, WithTolerance(math.NaN()))
	if argument := refusedArgument(t, err); argument != "tolerance" {
		t.Error(argument)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = publisher.Publish(ended, "billing", 0, amqp.Publishing{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// The publisher still works, and nothing of the above was sent.
	if _, err = publisher.Publish(context.Background(), "billing", 0, amqp.Publishing{Body: []byte("last")}); err != nil {
		t.Error(err)
	}
	if _, isThere := receive(t, connection, 1)["last"]; !isThere {
		t.Error("another message was there")
	}
}

func TestAToleranceIsTheDefaultOfEachMessage(t *testing.T) {
	publisher := publisherOf(t, connect(t), network(t, "NSERVICEBUS"), WithTolerance(0.1))
	delay := 1_000_003 * time.Second
	for _, tried := range []struct {
		options []Option
		isExact bool
	}{{nil, false}, {[]Option{WithTolerance(0)}, true}} {
		receipt, err := publisher.Publish(context.Background(), "billing", delay, amqp.Publishing{}, tried.options...)
		if err != nil || (receipt.Delay == delay) != tried.isExact || receipt.Delay < delay {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
}

func TestAClosedChannelIsNoRefusalByTheBroker(t *testing.T) {
	connection := connect(t)
	absent, err := ParseDelayNetwork([]byte(strings.ReplaceAll(os.Getenv("PARKED_NETWORK"), "parked", "absent")))
	if err != nil {
		t.Fatal(err)
	}
	publisher := publisherOf(t, connection, absent)
	var group sync.WaitGroup
	for index := 0; index < 20; index++ {
		group.Add(1)
		go func() {
			defer group.Done()
			_, err := publisher.Publish(context.Background(), "billing", 0, amqp.Publishing{})
			var closed *amqp.Error
			var notTaken PublishError
			if !errors.As(err, &closed) || closed.Code != amqp.NotFound && closed != amqp.ErrClosed || errors.As(err, &notTaken) {
				t.Errorf("%v", err)
			}
		}()
	}
	group.Wait()
}

func TestSendsWhatNServiceBusReads(t *testing.T) {
	connection := connect(t)
	purge(t, connection)
	publisher := publisherOf(t, connection, network(t, "NSERVICEBUS"))
	// Of the shortest level; the header's type is what counts.
	if _, err := publisher.Publish(context.Background(), "billing", time.Second, amqp.Publishing{Body: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	headers := receive(t, connection, 1)["x"].Headers
	if headers[nserviceBusDelay] != int32(1) {
		t.Errorf("%T", headers[nserviceBusDelay])
	}
	sent, _ := headers[nserviceBusSent].(string)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{6} Z$`).MatchString(sent) {
		t.Error(headers[nserviceBusSent])
	}
}
