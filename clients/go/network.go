package rabbitmqdelay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const digitNames = "0123456789abcdef"

// EncodedDelay tells where and by which key a message is published so that it arrives after its delay.
type EncodedDelay struct {
	// Exchange is that of the highest level that delays the message.
	Exchange string
	// RoutingKey has a word for each level, and then the destination.
	RoutingKey string
	// Level is the level of Exchange; 0 for no delay.
	Level int
	// Delay is what the network will keep: the delay asked for, rounded up.
	Delay time.Duration
	// Hops is in how many queues the message waits, one after another.
	Hops int
}

// DelayNetwork is a delay network on a broker: any delay up to the longest, in multiples of its unit. It never changes, so goroutines may
// share it.
type DelayNetwork struct {
	preset, queueType, matching       string
	radix, levels, unitMs, maximum    int64
	prefix                            string
	deliveryExchange, bindingExchange string
	entryExchanges                    []string
	parkingExchange, parkingQueue     string
	vhost                             string
}

// ParseDelayNetwork reads a descriptor of kind delay-network, version 1 or 2, as its stack exports it.
//
// It gives a [*DescriptorError] for another kind or version, or a part that is missing, malformed, or does not fit the others.
func ParseDelayNetwork(descriptor []byte) (*DelayNetwork, error) {
	read := readDescriptor(descriptor, "delay-network", "network", 2)
	n := &DelayNetwork{
		preset:    read.oneOf("preset", "nservicebus", "nservicebus-v1", "celery", "custom"),
		queueType: read.oneOf("queueType", "quorum", "classic"),
		matching:  read.oneOf("matching", "exact", "suffix", "enforced"),
	}
	isVersion2 := read.integer("version", 1, 2) == 2
	if n.matching == "enforced" && !n.IsNServiceBus() {
		read.refuse("matching", "it is for the presets nservicebus and nservicebus-v1")
	}
	if n.matching == "enforced" && !isVersion2 {
		read.refuse("version", "a network whose matching is enforced has version 2")
	}
	n.readShape(read)
	if read.err != nil {
		return nil, read.err
	}
	n.readNames(read, isVersion2)
	if read.err != nil {
		return nil, read.err
	}
	return n, nil
}

func (n *DelayNetwork) readShape(read *descriptor) {
	n.radix = read.integer("radix", 2, 16)
	if !slices.Contains([]int64{2, 4, 8, 16}, n.radix) {
		read.refuse("radix", "it must be one of 2, 4, 8, 16")
	}
	n.unitMs = read.integer("unitMs", 1, longestTTLMs)
	// A routing key needs two bytes for each level and at least one for the destination.
	n.levels = read.integer("levels", 1, (shortStringBytes-1)/2)
	if read.err != nil {
		return
	}
	states := int64(1)
	for level := int64(0); level < n.levels; level++ {
		if (n.radix-1)*states > longestTTLMs/n.unitMs {
			read.refuse("levels", "with this radix and unitMs, a queue's TTL would be over the broker's limit")
			return
		}
		states *= n.radix
	}
	n.maximum = states - 1
	if read.integer("maximumDelayMs", 0, 1<<53) != n.maximum*n.unitMs {
		read.refuse("maximumDelayMs", fmt.Sprintf("for this shape it must be %d", n.maximum*n.unitMs))
	}
}

func (n *DelayNetwork) readNames(read *descriptor, isVersion2 bool) {
	n.prefix = read.entity("prefix")
	n.deliveryExchange = read.entity("deliveryExchange")
	n.bindingExchange = n.deliveryExchange
	if n.matching == "enforced" {
		n.bindingExchange = n.prefix + "-exact"
	}
	if isVersion2 && read.text("bindingExchange") != n.bindingExchange {
		read.refuse("bindingExchange", "for this network it must be "+n.bindingExchange)
	}
	for level := 0; level < int(n.levels); level++ {
		n.entryExchanges = append(n.entryExchanges, n.levelExchange(level))
	}
	if !slices.Equal(read.texts("entryExchanges"), n.entryExchanges) {
		read.refuse("entryExchanges", fmt.Sprintf("it must be the %d exchanges %s …", n.levels, n.entryExchanges[0]))
	}
	longest := n.entryExchanges[n.levels-1]
	if n.preset == "custom" {
		longest = fmt.Sprintf("%s-%d", longest, n.radix-1)
	}
	if reason := whyNoEntity(longest, shortStringBytes); reason != "" {
		read.refuse("prefix", "of "+longest+", "+reason)
	}
	n.parkingExchange = read.optionalEntity("parkingExchange")
	n.parkingQueue = read.optionalEntity("parkingQueue")
	if read.has("parkingExchange") != read.has("parkingQueue") {
		read.refuse("parkingQueue", "parkingExchange and parkingQueue go together")
	}
	if isVersion2 {
		if n.vhost = read.text("vhost"); n.vhost == "" {
			read.refuse("vhost", "it must be a non-empty text")
		}
	}
}

func (n *DelayNetwork) levelExchange(level int) string {
	switch n.preset {
	case "celery":
		return fmt.Sprintf("%s_%d", n.prefix, level)
	case "custom":
		return fmt.Sprintf("%s.level-%02d", n.prefix, level)
	}
	return fmt.Sprintf("%s-level-%02d", n.prefix, level)
}

// Preset says whose names and arguments the network has: nservicebus, nservicebus-v1, celery or custom.
func (n *DelayNetwork) Preset() string { return n.preset }

// QueueType is quorum or classic.
func (n *DelayNetwork) QueueType() string { return n.queueType }

// Matching is exact, suffix or enforced: how endpoints are bound.
func (n *DelayNetwork) Matching() string { return n.matching }

// Radix is the base of the digits.
func (n *DelayNetwork) Radix() int { return int(n.radix) }

// Levels is the number of digits; a routing key has one word for each.
func (n *DelayNetwork) Levels() int { return int(n.levels) }

// Prefix is what the network's names start with.
func (n *DelayNetwork) Prefix() string { return n.prefix }

// EntryExchanges has the exchange of each level; the index is the level.
func (n *DelayNetwork) EntryExchanges() []string { return slices.Clone(n.entryExchanges) }

// DeliveryExchange is the topic exchange that messages reach when their delay is over.
func (n *DelayNetwork) DeliveryExchange() string { return n.deliveryExchange }

// BindingExchange is the topic exchange that endpoints are bound to.
func (n *DelayNetwork) BindingExchange() string { return n.bindingExchange }

// ParkingExchange is the exchange that gets what no binding takes; "" where the network has none.
func (n *DelayNetwork) ParkingExchange() string { return n.parkingExchange }

// ParkingQueue is the queue that gets what no binding takes; "" where the network has none.
func (n *DelayNetwork) ParkingQueue() string { return n.parkingQueue }

// Vhost is the virtual host that the network is in; "" in descriptors of version 1.
func (n *DelayNetwork) Vhost() string { return n.vhost }

// Unit is the smallest delay but zero; all delays are multiples of it.
func (n *DelayNetwork) Unit() time.Duration { return time.Duration(n.unitMs) * time.Millisecond }

// MaximumDelay is the longest delay.
func (n *DelayNetwork) MaximumDelay() time.Duration { return time.Duration(n.maximum) * n.Unit() }

// MaximumDestinationBytes is how many bytes of UTF-8 a destination may have: 255 less two for each level.
func (n *DelayNetwork) MaximumDestinationBytes() int { return shortStringBytes - 2*int(n.levels) }

// IsNServiceBus says whether NServiceBus's clients use the network.
func (n *DelayNetwork) IsNServiceBus() bool {
	return n.preset == "nservicebus" || n.preset == "nservicebus-v1"
}

// Encode turns a delay and a destination into an exchange and a routing key.
//
// The delay is rounded up to the network's unit, never early; a negative one is zero. The destination is an endpoint's name, or a key that
// one of its patterns matches. The tolerance says how much longer the delay may be for fewer hops, as a fraction of it: the delay with the
// fewest hops from delay to delay * (1 + tolerance) is taken.
//
// It gives a [*DelayError] naming delay, destination or tolerance.
func (n *DelayNetwork) Encode(delay time.Duration, destination string, tolerance float64) (EncodedDelay, error) {
	units := int64(0)
	if delay > 0 {
		units = int64((delay-1)/n.Unit()) + 1
	}
	if units > n.maximum {
		return EncodedDelay{}, &DelayError{"delay", fmt.Sprintf("%v is not allowed; the network's maximum is %v", delay, n.MaximumDelay())}
	}
	if !(tolerance >= 0 && tolerance <= 1e300) {
		return EncodedDelay{}, &DelayError{
			"tolerance", fmt.Sprintf("%v is not allowed; it must be a fraction from 0, e.g. 0.01 for one percent", tolerance)}
	}
	if tolerance > 0 {
		units = n.fewestDigits(units, delay, tolerance)
	}
	if reason := whyNoDestination(destination, n.MaximumDestinationBytes()); reason != "" {
		return EncodedDelay{}, &DelayError{"destination", shown(destination) + " is not allowed; " + reason}
	}
	level, hops := 0, 0
	var key strings.Builder
	key.Grow(2*int(n.levels) + len(destination))
	var digits [(shortStringBytes - 1) / 2]byte
	for place, rest := 0, units; place < int(n.levels); place, rest = place+1, rest/n.radix {
		digits[place] = byte(rest % n.radix)
		if digits[place] > 0 {
			level = place
			hops++
		}
	}
	for place := int(n.levels) - 1; place >= 0; place-- {
		key.WriteByte(digitNames[digits[place]])
		key.WriteByte('.')
	}
	key.WriteString(destination)
	return EncodedDelay{n.entryExchanges[level], key.String(), level, time.Duration(units) * n.Unit(), hops}, nil
}

// fewestDigits is the number with the fewest non-zero digits from units to the tolerated end: units or one of its roundings up to a power of
// the radix. Any other in between has at least as many non-zero digits as one of those.
func (n *DelayNetwork) fewestDigits(units int64, delay time.Duration, tolerance float64) int64 {
	// In two parts, since a float has no room for the nanoseconds of long delays.
	delayMs := float64(delay/time.Millisecond) + float64(delay%time.Millisecond)/1e6
	last := int64(math.Floor(math.Min(delayMs*(1+tolerance)/float64(n.unitMs), float64(n.maximum))))
	best := units
	for power := n.radix; power <= last; power *= n.radix {
		rounded := (units + power - 1) / power * power
		if rounded <= last && n.nonZeroDigits(rounded) < n.nonZeroDigits(best) {
			best = rounded
		}
	}
	return best
}

func (n *DelayNetwork) nonZeroDigits(units int64) int {
	count := 0
	for ; units > 0; units /= n.radix {
		if units%n.radix > 0 {
			count++
		}
	}
	return count
}
