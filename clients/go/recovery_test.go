package rabbitmqdelay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// proxy leads connections to the broker, and cuts them.
type proxy struct {
	listener net.Listener
	mutex    sync.Mutex
	open     []net.Conn
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener}
	t.Cleanup(func() { _ = listener.Close(); p.cut() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			broker, err := net.Dial("tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			p.mutex.Lock()
			p.open = append(p.open, client, broker)
			p.mutex.Unlock()
			go func() { _, _ = io.Copy(broker, client); _ = broker.Close() }()
			go func() { _, _ = io.Copy(client, broker); _ = client.Close() }()
		}
	}()
	return p
}

func (p *proxy) cut() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, connection := range p.open {
		_ = connection.Close()
	}
	p.open = nil
}

// The library publishes into a channel that it is about to recover, and then takes each confirm for that of another message.
func TestAConnectionThatRecoversConfirmsNoOtherMessage(t *testing.T) {
	connection := connect(t)
	bare := network(t, "BARE")
	channel, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	refusing := amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"}
	if _, err = channel.QueueDeclare("full", true, false, false, false, refusing); err != nil {
		t.Fatal(err)
	}
	if err = channel.QueueBind("full", "#.full", bare.BindingExchange(), false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err = publisherOf(t, connection, bare).Publish(context.Background(), "full", 0, amqp.Publishing{}); err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(os.Getenv("RABBITMQ_URL"))
	if err != nil {
		t.Fatal(err)
	}
	cutter := startProxy(t, address.Host)
	address.Host = cutter.listener.Addr().String()
	quick := &amqp.ReconnectionConfig{MaxRetryCount: 1000, RetryInterval: 20 * time.Millisecond}
	recovering, err := amqp.DialConfig(address.String(), amqp.Config{Recovery: &amqp.Recovery{ReconnectionConfig: quick}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = recovering.Close() })

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for count := 0; count < 15; count++ {
			time.Sleep(400 * time.Millisecond)
			cutter.cut()
		}
	}()
	var mutex sync.Mutex
	var shared *Publisher
	// renew gives the publisher, and a new one in the place of one that is lost; nil while there is no connection.
	renew := func(lost *Publisher) *Publisher {
		mutex.Lock()
		defer mutex.Unlock()
		if shared == lost {
			if lost != nil {
				go func() { _ = lost.Close() }()
			}
			if shared, err = NewPublisher(recovering, bare); err != nil {
				shared = nil
				time.Sleep(10 * time.Millisecond)
			}
		}
		return shared
	}
	taken, refused := 0, 0
	done := map[string]bool{}
	publish := func(publisher *Publisher, to, body string) (isLost bool) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_, err := publisher.Publish(ctx, to, 0, amqp.Publishing{Body: []byte(body)})
		var nacked *MessageNackedError
		mutex.Lock()
		defer mutex.Unlock()
		switch {
		case err == nil && to == "full", errors.As(err, &nacked) && to == "billing-bare":
			t.Errorf("the answer for %s is another message's: %v", body, err)
		case err == nil:
			taken++
			done[body] = true
		case errors.As(err, &nacked):
			refused++
		case errors.Is(err, context.DeadlineExceeded):
			t.Errorf("%s had no answer", body)
		default:
			return true
		}
		return false
	}
	var group sync.WaitGroup
	for worker := 0; worker < 100; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			publisher := renew(nil)
			failed := 0
			for count := 0; ; count++ {
				select {
				case <-ended:
					return
				default:
				}
				if publisher == nil {
					publisher = renew(nil)
					continue
				}
				to := []string{"billing-bare", "full"}[count%2]
				if !publish(publisher, to, fmt.Sprintf("%s %d %d", to, worker, count)) {
					failed = 0
				} else if failed++; failed%30 == 0 {
					// Long enough that a channel that is recovered would be there again.
					publisher = renew(publisher)
				} else {
					time.Sleep(5 * time.Millisecond)
				}
			}
		}(worker)
	}
	group.Wait()
	for {
		delivery, isThere, err := channel.Get("billing-bare", true)
		if err != nil {
			t.Fatal(err)
		}
		if !isThere {
			break
		}
		delete(done, string(delivery.Body))
	}
	if len(done) > 0 || taken == 0 || refused == 0 {
		t.Errorf("%d of %d messages are in no queue; %d were refused", len(done), taken, refused)
	}
}
