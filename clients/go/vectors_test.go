package rabbitmqdelay

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// vectors is what the reference in TypeScript makes: clients/vectors.json.
type vectors struct {
	Networks  []json.RawMessage
	Intervals json.RawMessage
	Encodings []struct {
		Network            int
		DelayMs, Tolerance float64
		Destination        string
		Refused            string
		Expected           *struct {
			Exchange, RoutingKey string
			Level, Hops          int
			DelayMs              float64
		}
	}
	Routes []struct {
		DelayMs           float64
		Exchange, Refused string
	}
	Headers []struct {
		Network  int
		DelayMs  float64
		SentAt   time.Time
		Expected map[string]struct {
			Type  string
			Value any
		}
		Removed []string
	}
	Refusals []struct{ Kind, JSON, Refused, Reason string }
}

func readVectors(t testing.TB) (vectors, []*DelayNetwork) {
	t.Helper()
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var read vectors
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	networks := make([]*DelayNetwork, len(read.Networks))
	for index, descriptor := range read.Networks {
		if networks[index], err = ParseDelayNetwork(descriptor); err != nil {
			t.Fatal(err)
		}
	}
	return read, networks
}

// milliseconds is a delay; one that no duration can have is the longest that there is, which every network refuses, too.
func milliseconds(value float64) time.Duration {
	if value > float64(math.MaxInt64/time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(value * float64(time.Millisecond))
}

func refusedArgument(t *testing.T, err error) string {
	t.Helper()
	var refused *DelayError
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no DelayError", err)
	}
	return refused.Argument
}

func refusedPart(t *testing.T, err error) string {
	t.Helper()
	var refused *DescriptorError
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no DescriptorError", err)
	}
	return refused.Property
}

func TestEncodesAsTheReferenceDoes(t *testing.T) {
	all, networks := readVectors(t)
	if len(all.Encodings) <= 1900 {
		t.Fatalf("%d encodings", len(all.Encodings))
	}
	for _, vector := range all.Encodings {
		encoded, err := networks[vector.Network].Encode(milliseconds(vector.DelayMs), vector.Destination, vector.Tolerance)
		if vector.Refused != "" {
			if argument := refusedArgument(t, err); argument != strings.Replace(vector.Refused, "delayMs", "delay", 1) {
				t.Errorf("%+v: %s", vector, argument)
			}
			continue
		}
		expected := EncodedDelay{
			vector.Expected.Exchange, vector.Expected.RoutingKey, vector.Expected.Level,
			milliseconds(vector.Expected.DelayMs), vector.Expected.Hops,
		}
		if err != nil || encoded != expected {
			t.Errorf("%+v: %+v, %v", vector, encoded, err)
		}
	}
}

func TestRoutesIntervalsAsTheReferenceDoes(t *testing.T) {
	all, _ := readVectors(t)
	intervals, err := ParseRetryIntervals(all.Intervals)
	if err != nil {
		t.Fatal(err)
	}
	for _, vector := range all.Routes {
		exchange, err := intervals.ExchangeOf(milliseconds(vector.DelayMs))
		if vector.Refused != "" {
			if argument := refusedArgument(t, err); argument != "delay" {
				t.Errorf("%+v: %s", vector, argument)
			}
		} else if err != nil || exchange != vector.Exchange {
			t.Errorf("%+v: %s, %v", vector, exchange, err)
		}
	}
}

func TestWritesTheHeadersOfTheReference(t *testing.T) {
	all, networks := readVectors(t)
	for _, vector := range all.Headers {
		network := networks[vector.Network]
		encoded, err := network.Encode(milliseconds(vector.DelayMs), "Sales", 0)
		if err != nil {
			t.Fatal(err)
		}
		before := amqp.Table{"x-death": "from an earlier publish"}
		for _, name := range vector.Removed {
			before[name] = "from an earlier publish"
		}
		expected := amqp.Table{}
		for name, typed := range vector.Expected {
			expected[name] = typed.Value
			if typed.Type == "int32" {
				expected[name] = int32(typed.Value.(float64))
			}
		}
		if headers := delayHeaders(network, before, encoded.Delay, vector.SentAt); !reflect.DeepEqual(headers, expected) {
			t.Errorf("%+v: %v", vector, headers)
		}
		if before["x-death"] == nil {
			t.Fatal("what the caller gave is copied")
		}
	}
}

func TestRefusesTheDescriptorsThatTheReferenceRefuses(t *testing.T) {
	all, _ := readVectors(t)
	count := 0
	for _, vector := range all.Refusals {
		// Whether names are the preset's own, and whether somebody reads a property, is not checked here.
		if vector.Reason == "fixed" || vector.Reason == "unknown" {
			continue
		}
		count++
		var err error
		if vector.Kind == "delay-network" {
			_, err = ParseDelayNetwork([]byte(vector.JSON))
		} else {
			_, err = ParseRetryIntervals([]byte(vector.JSON))
		}
		property, _, _ := strings.Cut(refusedPart(t, err), "[")
		if expected, _, _ := strings.Cut(vector.Refused, "["); property != expected {
			t.Errorf("%+v: %v", vector, err)
		}
	}
	if count < 70 {
		t.Errorf("%d refusals", count)
	}
}

func TestShowsNothingOfADescriptorThatMayBeAPassword(t *testing.T) {
	all, _ := readVectors(t)
	count := 0
	for _, written := range all.Networks {
		var network map[string]any
		if err := json.Unmarshal(written, &network); err != nil {
			t.Fatal(err)
		}
		if network["version"] != 2.0 {
			continue
		}
		for property := range network {
			for _, given := range []any{
				"amqp://shop:hunter2@broker", "shop:hunter2@broker", "//shop:hunter2@broker", "https://broker/?token=hunter2",
				[]any{"hunter2"}, map[string]any{"password": "hunter2"},
			} {
				mistyped := map[string]any{}
				for name, value := range network {
					mistyped[name] = value
				}
				mistyped[property] = given
				if property == "vhost" {
					mistyped["prefix"] = 7
				}
				text, _ := json.Marshal(mistyped)
				_, err := ParseDelayNetwork(text)
				if err == nil || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: %v", property, err)
				}
				count++
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d descriptors", count)
	}
}

func TestReadsWhatTheReferenceWrote(t *testing.T) {
	all, networks := readVectors(t)
	for index, network := range networks {
		var written struct {
			Kind, Preset, Prefix, QueueType, Matching                               string
			DeliveryExchange, BindingExchange, ParkingExchange, ParkingQueue, Vhost string
			Radix, Levels                                                           int
			UnitMs, MaximumDelayMs                                                  float64
			EntryExchanges                                                          []string
		}
		if err := json.Unmarshal(all.Networks[index], &written); err != nil {
			t.Fatal(err)
		}
		if written.BindingExchange == "" {
			written.BindingExchange = written.DeliveryExchange
		}
		for _, pair := range [][2]any{
			{network.Preset(), written.Preset},
			{network.Prefix(), written.Prefix},
			{network.QueueType(), written.QueueType},
			{network.Matching(), written.Matching},
			{network.Radix(), written.Radix},
			{network.Levels(), written.Levels},
			{network.Unit(), milliseconds(written.UnitMs)},
			{network.MaximumDelay(), milliseconds(written.MaximumDelayMs)},
			{network.EntryExchanges(), written.EntryExchanges},
			{network.DeliveryExchange(), written.DeliveryExchange},
			{network.BindingExchange(), written.BindingExchange},
			{network.ParkingExchange(), written.ParkingExchange},
			{network.ParkingQueue(), written.ParkingQueue},
			{network.Vhost(), written.Vhost},
		} {
			if !reflect.DeepEqual(pair[0], pair[1]) {
				t.Errorf("%s: %v, not %v", written.Prefix, pair[0], pair[1])
			}
		}
	}
	intervals, err := ParseRetryIntervals(all.Intervals)
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprintf("%s %s %t %v", intervals.Prefix(), intervals.QueueType(), intervals.AtLeastOnce(), intervals.Intervals())
	if said != "mt-delay classic false [1ms 3s 5s 15m0s]" {
		t.Error(said)
	}
}

func TestNamesWhatIsNotAllowed(t *testing.T) {
	_, networks := readVectors(t)
	for _, tried := range []struct {
		delay       time.Duration
		destination string
		tolerance   float64
		argument    string
	}{
		{time.Hour, "Sales", -1, "tolerance"},
		{time.Hour, "Sales", math.NaN(), "tolerance"},
		{time.Hour, "Sales", math.Inf(1), "tolerance"},
		{math.MaxInt64, "Sales", 0, "delay"},
		{time.Hour, "\xff", 0, "destination"},
	} {
		_, err := networks[0].Encode(tried.delay, tried.destination, tried.tolerance)
		if argument := refusedArgument(t, err); argument != tried.argument {
			t.Errorf("%+v: %s", tried, argument)
		}
	}
	for _, given := range []string{"", "{", "[]", "7", "null", "\xff", "{} {}"} {
		_, err := ParseDelayNetwork([]byte(given))
		if property := refusedPart(t, err); property != "network" {
			t.Errorf("%q: %s", given, property)
		}
	}
}
