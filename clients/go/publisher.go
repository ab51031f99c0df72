package rabbitmqdelay

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Publisher publishes through a channel of its own; each message is persistent, mandatory and confirmed. Any number of goroutines may publish
// at once.
//
// After an error of the AMQP library or of a context, the message may or may not have been taken. After the channel has closed, make a new
// publisher, also on a connection that recovers: the library publishes into a channel before it has recovered its confirms, and would take
// each later one for that of another message. A publisher whose channel has closed publishes nothing more.
type Publisher struct {
	channel  *amqp.Channel
	network  *DelayNetwork
	defaults settings
	// frameSize is what client and broker agreed on, in bytes; 0 is no limit.
	frameSize int

	// questions are answered by the goroutine that sees what the broker returns, after all that came before.
	questions chan chan struct{}
	ended     chan struct{}

	mutex sync.Mutex
	// inFlight has what waits for its confirm, by its message id.
	inFlight map[string]*message
	// lost is why the channel has closed.
	lost error
}

// message is one that was sent, and not yet confirmed.
type message struct {
	returned bool
	// lost is set when the channel closed before the confirm, and gone closed with it.
	lost    error
	gone    chan struct{}
	settled chan struct{}
}

type settings struct{ tolerance float64 }

// Option changes how a [Publisher] publishes all its messages, or one of them.
type Option func(*settings)

// WithTolerance says how much longer a delay may be for fewer hops, as a fraction of it; default 0. See [DelayNetwork.Encode].
func WithTolerance(tolerance float64) Option {
	return func(s *settings) { s.tolerance = tolerance }
}

// NewPublisher opens a channel on the connection. The options are the defaults for each message.
//
// It gives a [*DelayError] for a tolerance that can't be.
func NewPublisher(connection *amqp.Connection, network *DelayNetwork, options ...Option) (*Publisher, error) {
	p := &Publisher{
		network:   network,
		frameSize: connection.Config.FrameSize,
		questions: make(chan chan struct{}),
		ended:     make(chan struct{}),
		inFlight:  map[string]*message{},
	}
	for _, option := range options {
		option(&p.defaults)
	}
	if _, err := network.Encode(0, "destination", p.defaults.tolerance); err != nil {
		return nil, err
	}
	channel, err := connection.Channel()
	if err != nil {
		return nil, fmt.Errorf("opening a channel: %w", err)
	}
	// Before the confirms, so that no closing is missed.
	closes := channel.NotifyClose(make(chan *amqp.Error, 1))
	if err := channel.Confirm(false); err != nil {
		_ = channel.Close()
		return nil, fmt.Errorf("asking for confirms: %w", err)
	}
	p.channel = channel
	// Returns are unbuffered, so that one is taken here before the library goes on to the confirm that follows it.
	go p.watch(channel.NotifyReturn(make(chan amqp.Return)), closes)
	return p, nil
}

// Publish publishes a message that arrives after a delay, and waits for the broker's confirm.
//
// The delay is rounded up to the network's unit, never early; a negative one is none. The message's headers are copied; a missing message id
// is made up.
//
// It gives a [*DelayError] before anything is sent; a [*MessageReturnedError] if no queue takes the message, and a [*MessageNackedError] if
// the broker refuses it. Any other error is of the AMQP library or of the context.
func (p *Publisher) Publish(
	ctx context.Context, destination string, delay time.Duration, message amqp.Publishing, options ...Option,
) (Receipt, error) {
	return p.publish(ctx, destination, delay, time.Now(), message, options)
}

// PublishAt publishes a message that arrives at a time; one in the past is no delay. For all else, see [Publisher.Publish].
func (p *Publisher) PublishAt(
	ctx context.Context, destination string, due time.Time, message amqp.Publishing, options ...Option,
) (Receipt, error) {
	if due.IsZero() {
		return Receipt{}, &DelayError{"due", "the zero time is not allowed; give one"}
	}
	now := time.Now()
	return p.publish(ctx, destination, due.Sub(now), now, message, options)
}

// Close closes the channel, not the connection. What waits for its confirm may or may not have been taken.
func (p *Publisher) Close() error { return p.channel.Close() }

func (p *Publisher) publish(
	ctx context.Context, destination string, delay time.Duration, now time.Time, sent amqp.Publishing, options []Option,
) (Receipt, error) {
	chosen := p.defaults
	for _, option := range options {
		option(&chosen)
	}
	if err := checkMessage(sent); err != nil {
		return Receipt{}, err
	}
	encoded, err := p.network.Encode(delay, destination, chosen.tolerance)
	if err != nil {
		return Receipt{}, err
	}
	sent.DeliveryMode = amqp.Persistent
	if sent.MessageId == "" {
		if sent.MessageId, err = newID(); err != nil {
			return Receipt{}, err
		}
	}
	sent.Headers = delayHeaders(p.network, sent.Headers, encoded.Delay, now)
	if err := checkSize(sent, p.frameSize); err != nil {
		return Receipt{}, err
	}
	isAcked, own, err := p.send(ctx, encoded, sent)
	switch {
	case err != nil:
		return Receipt{}, fmt.Errorf("publishing to %s by exchange %s: %w", destination, encoded.Exchange, err)
	// What comes after the closing may be another message's confirm.
	case own.lost != nil:
		return Receipt{}, fmt.Errorf("publishing to %s by exchange %s, before the confirm: %w", destination, encoded.Exchange, own.lost)
	case own.returned:
		return Receipt{}, &MessageReturnedError{destination, encoded.Exchange, encoded.RoutingKey}
	case isAcked:
		return Receipt{encoded.Exchange, encoded.RoutingKey, encoded.Delay, now.Add(encoded.Delay).UTC(), sent.MessageId}, nil
	}
	return Receipt{}, &MessageNackedError{destination, encoded.Exchange, encoded.RoutingKey}
}

// send gives what is known of the message when its confirm is there.
func (p *Publisher) send(ctx context.Context, encoded EncodedDelay, sent amqp.Publishing) (bool, *message, error) {
	own, err := p.begin(ctx, sent.MessageId)
	if err != nil {
		return false, nil, err
	}
	confirm, err := p.channel.PublishWithDeferredConfirmWithContext(ctx, encoded.Exchange, encoded.RoutingKey, true, false, sent)
	if err != nil {
		p.end(sent.MessageId, own)
		return false, nil, err
	}
	select {
	case <-confirm.Done():
		p.end(sent.MessageId, own)
		return confirm.Acked(), own, nil
	case <-own.gone:
		p.end(sent.MessageId, own)
		return false, own, nil
	case <-ctx.Done():
		// The next one of this id waits until it is known which of them is returned.
		go func() {
			select {
			case <-confirm.Done():
			case <-own.gone:
			}
			p.end(sent.MessageId, own)
		}()
		return false, nil, ctx.Err()
	}
}

// begin waits for its turn: the broker tells by its id which message it returns, so of two under one id it could be the wrong one.
func (p *Publisher) begin(ctx context.Context, id string) (*message, error) {
	own := &message{gone: make(chan struct{}), settled: make(chan struct{})}
	for {
		p.mutex.Lock()
		if p.lost != nil {
			p.mutex.Unlock()
			return nil, fmt.Errorf("the channel has closed, make a new publisher: %w", p.lost)
		}
		before, isThere := p.inFlight[id]
		if !isThere {
			p.inFlight[id] = own
		}
		p.mutex.Unlock()
		if !isThere {
			return own, nil
		}
		select {
		case <-before.settled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// end waits until what the broker said before the confirm is seen; the message changes no more after it.
func (p *Publisher) end(id string, own *message) {
	answer := make(chan struct{})
	select {
	case p.questions <- answer:
		<-answer
	case <-p.ended:
	}
	p.mutex.Lock()
	delete(p.inFlight, id)
	p.mutex.Unlock()
	close(own.settled)
}

// watch sees what the broker returns, and that the channel closes; one that the library recovers closes several times.
func (p *Publisher) watch(returns <-chan amqp.Return, closes <-chan *amqp.Error) {
	defer close(p.ended)
	for {
		select {
		case returned, isOpen := <-returns:
			if !isOpen {
				returns = nil // closes is closed, too, and has the reason
				continue
			}
			p.mutex.Lock()
			if own := p.inFlight[returned.MessageId]; own != nil {
				own.returned = true
			}
			p.mutex.Unlock()
		case reason, isOpen := <-closes:
			p.lose(reason)
			if !isOpen {
				return
			}
		case answer := <-p.questions:
			// The library counts what a closed channel had in flight as refused, after it told of the closing.
			select {
			case reason, isOpen := <-closes:
				p.lose(reason)
				if !isOpen {
					close(answer)
					return
				}
			default:
			}
			close(answer)
		}
	}
}

// lose ends the publisher, and all that is in flight; a channel that was closed on purpose has no reason.
func (p *Publisher) lose(reason *amqp.Error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.lost != nil {
		return
	}
	p.lost = amqp.ErrClosed
	if reason != nil {
		p.lost = reason
	}
	for _, own := range p.inFlight {
		own.lost = p.lost
		close(own.gone)
	}
}

// newID is a random UUID.
func newID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("a message id: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
