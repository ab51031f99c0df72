package rabbitmqdelay

import "fmt"

// DelayError is an argument that is not allowed; nothing was sent.
type DelayError struct {
	// Argument names it, as delay, destination or message.Expiration.
	Argument string
	// Reason says what is allowed.
	Reason string
}

func (e *DelayError) Error() string { return e.Argument + ": " + e.Reason }

// DescriptorError is a descriptor that is not one of its kind.
type DescriptorError struct {
	// Property names the part, as network.radix.
	Property string
	// Reason says what is allowed.
	Reason string
}

func (e *DescriptorError) Error() string { return e.Property + ": " + e.Reason }

// PublishError is what [MessageReturnedError] and [MessageNackedError] have in common: the broker did not take a message that was sent to it.
type PublishError interface {
	error
	notTaken()
}

// MessageReturnedError says that no queue takes the message: nothing is bound. (Where the exchange is not there, an error of the AMQP
// library says so.)
type MessageReturnedError struct {
	// Destination, Exchange and RoutingKey are those of the message.
	Destination, Exchange, RoutingKey string
}

func (e *MessageReturnedError) Error() string {
	return fmt.Sprintf("no queue takes the message for %s by exchange %s", e.Destination, e.Exchange)
}

func (*MessageReturnedError) notTaken() {}

// MessageNackedError says that the broker refused the message, e.g. because a queue is full.
type MessageNackedError struct {
	// Destination, Exchange and RoutingKey are those of the message.
	Destination, Exchange, RoutingKey string
}

func (e *MessageNackedError) Error() string {
	return fmt.Sprintf("the broker refused the message for %s by exchange %s", e.Destination, e.Exchange)
}

func (*MessageNackedError) notTaken() {}
