package rabbitmqdelay

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

var benchedDelays = func() (delays [1024]time.Duration) {
	for index := range delays {
		delays[index] = time.Duration(uint64(index)*2_654_435_761%268_435_455) * time.Second
	}
	return delays
}()

var benchedKey string

// BenchmarkEncode encodes for the network of NServiceBus: 28 binary levels.
func BenchmarkEncode(b *testing.B) {
	_, networks := readVectors(b)
	b.ResetTimer()
	for index := 0; index < b.N; index++ {
		encoded, err := networks[0].Encode(benchedDelays[index%len(benchedDelays)], "some-address", 0)
		if err != nil {
			b.Fatal(err)
		}
		benchedKey = encoded.RoutingKey
	}
}

// BenchmarkJoin is what one would write at first: binary digits, joined.
func BenchmarkJoin(b *testing.B) {
	for index := 0; index < b.N; index++ {
		seconds := int64((benchedDelays[index%len(benchedDelays)] + time.Second - 1) / time.Second)
		digits := strings.Split(fmt.Sprintf("%028s", strconv.FormatInt(seconds, 2)), "")
		benchedKey = strings.Join(digits, ".") + ".some-address"
	}
}
