// Encodes a delay of ten seconds to Sales.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	rabbitmqdelay "github.com/rabbitmq-delay/rabbitmq-delay/clients/go"
)

func main() {
	descriptor, err := os.ReadFile("network.json")
	if err != nil {
		log.Fatal(err)
	}
	network, err := rabbitmqdelay.ParseDelayNetwork(descriptor)
	if err != nil {
		log.Fatal(err)
	}
	encoded, err := network.Encode(10*time.Second, "Sales", 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(encoded.RoutingKey)
}
