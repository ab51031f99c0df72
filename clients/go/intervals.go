package rabbitmqdelay

import (
	"fmt"
	"slices"
	"time"
)

// RetryIntervals are interval queues on a broker: some exact delays, after which a message goes to the queue whose name is its routing key.
// They never change, so goroutines may share them.
type RetryIntervals struct {
	prefix, queueType string
	atLeastOnce       bool
	intervals         []time.Duration
}

// ParseRetryIntervals reads a descriptor of kind retry-intervals, as its stack exports it.
//
// It gives a [*DescriptorError] for another kind or version, or a part that is missing or malformed.
func ParseRetryIntervals(descriptor []byte) (*RetryIntervals, error) {
	read := readDescriptor(descriptor, "retry-intervals", "retryIntervals", 1)
	r := &RetryIntervals{prefix: read.entity("prefix")}
	if read.text("returnExchange") != r.ReturnExchange() {
		read.refuse("returnExchange", "for this prefix it must be "+r.ReturnExchange())
	}
	r.queueType = read.oneOf("queueType", "quorum", "classic")
	r.atLeastOnce = read.flag("atLeastOnce", r.queueType == "quorum")
	if r.atLeastOnce && r.queueType == "classic" {
		read.refuse("atLeastOnce", "classic queues can't")
	}
	for _, ms := range read.integers("intervalsMs", 1, longestTTLMs) {
		r.intervals = append(r.intervals, time.Duration(ms)*time.Millisecond)
	}
	if read.err != nil {
		return nil, read.err
	}
	slices.Sort(r.intervals)
	if len(slices.Compact(slices.Clone(r.intervals))) < len(r.intervals) {
		read.refuse("intervalsMs", "each interval stands once")
	}
	for _, name := range []string{r.ReturnExchange(), r.exchange(r.intervals[len(r.intervals)-1])} {
		if reason := whyNoEntity(name, shortStringBytes); reason != "" {
			read.refuse("prefix", "of "+name+", "+reason)
		}
	}
	if read.err != nil {
		return nil, read.err
	}
	return r, nil
}

// Prefix is what all names start with, e.g. mt-delay.
func (r *RetryIntervals) Prefix() string { return r.prefix }

// ReturnExchange is the direct exchange to which each endpoint's queue is bound by its own name.
func (r *RetryIntervals) ReturnExchange() string { return r.prefix + "-return" }

// QueueType is quorum or classic.
func (r *RetryIntervals) QueueType() string { return r.queueType }

// AtLeastOnce says whether a message leaves an interval only when the next queue has confirmed it.
func (r *RetryIntervals) AtLeastOnce() bool { return r.atLeastOnce }

// Intervals are the delays that there are, ascending.
func (r *RetryIntervals) Intervals() []time.Duration { return slices.Clone(r.intervals) }

// ExchangeOf is the exchange to publish to, under the queue's name as the routing key.
//
// It gives a [*DelayError] naming delay for one that there is no queue for; nothing is rounded.
func (r *RetryIntervals) ExchangeOf(delay time.Duration) (string, error) {
	if !slices.Contains(r.intervals, delay) {
		return "", &DelayError{"delay", fmt.Sprintf("%v is not allowed; there are queues for %v", delay, r.intervals)}
	}
	return r.exchange(delay), nil
}

func (r *RetryIntervals) exchange(interval time.Duration) string {
	return fmt.Sprintf("%s-%d", r.prefix, interval.Milliseconds())
}
