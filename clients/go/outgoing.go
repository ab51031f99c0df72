package rabbitmqdelay

import (
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	dueHeader        = "rabbitmq-delay.due-at"
	nserviceBusDelay = "NServiceBus.Transport.RabbitMQ.DelayInSeconds"
	nserviceBusSent  = "NServiceBus.TimeSent"
)

// deathHeaders are the broker's record of the waits before. RabbitMQ before 4 reads it back, takes a second wait in one queue for a loop, and
// drops the message.
var deathHeaders = []string{
	"x-death",
	"x-first-death-exchange",
	"x-first-death-queue",
	"x-first-death-reason",
	"x-last-death-exchange",
	"x-last-death-queue",
	"x-last-death-reason",
	"x-delivery-count",
	"x-acquired-count",
}

// Receipt tells what became of a message that the broker has confirmed.
type Receipt struct {
	// Exchange and RoutingKey are what the message was published to.
	Exchange, RoutingKey string
	// Delay is what the network keeps.
	Delay time.Duration
	// DueAt is when the message is due, in UTC.
	DueAt time.Time
	// MessageID is the message's own, or the one that was made up.
	MessageID string
}

// checkMessage refuses what would make a message early, lead copies past its delay, lose it in a restart, or break the connection.
func checkMessage(message amqp.Publishing) error {
	if message.Expiration != "" {
		return &DelayError{"message.Expiration",
			"the lower of it and a queue's TTL wins, so it would make the message early; give a delay only"}
	}
	if message.DeliveryMode != 0 && message.DeliveryMode != amqp.Persistent {
		return &DelayError{"message.DeliveryMode", "every message is persistent; a transient one would be lost in a restart"}
	}
	for _, copies := range []string{"CC", "BCC"} {
		if _, there := message.Headers[copies]; there {
			return &DelayError{"message.Headers." + copies,
				"copies would be routed past the delay; publish one message for each destination"}
		}
	}
	// Before the library's own look, which a table in a circle would not let end.
	if _, err := tableBytes(message.Headers, "message.Headers", 1); err != nil {
		return err
	}
	if err := message.Headers.Validate(); err != nil {
		return &DelayError{"message.Headers", err.Error()}
	}
	// The AMQP library closes the whole connection for these.
	for _, property := range shortStrings(message) {
		if bytes := len(property[1]); bytes > shortStringBytes {
			return &DelayError{"message." + property[0], fmt.Sprintf("it has %d bytes, at most %d are allowed", bytes, shortStringBytes)}
		}
	}
	return nil
}

// delayHeaders are the headers of a message, with what tells of its delay; those given are copied.
func delayHeaders(network *DelayNetwork, given amqp.Table, delay time.Duration, now time.Time) amqp.Table {
	headers := make(amqp.Table, len(given)+3)
	for name, value := range given {
		headers[name] = value
	}
	for _, name := range deathHeaders {
		delete(headers, name)
	}
	now = now.UTC()
	headers[dueHeader] = now.Add(delay).Format("2006-01-02T15:04:05.000Z")
	if network.IsNServiceBus() {
		delete(headers, nserviceBusDelay)
		if delay > 0 {
			headers[nserviceBusDelay] = int32((delay + time.Second - 1) / time.Second)
		}
		// The time of an earlier publish would make the message early when NServiceBus's own tool moves it.
		headers[nserviceBusSent] = fmt.Sprintf("%s:%06d Z", now.Format("2006-01-02 15:04:05"), now.Nanosecond()/1000)
	}
	return headers
}
