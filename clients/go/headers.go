package rabbitmqdelay

import (
	"fmt"
	"math"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	// deepestTable is the most levels of tables and lists in headers; anything deeper is circular or useless.
	deepestTable = 50
	// frameBytes is what a frame has beside the properties: its own head and end, the head of the content and the flags of its properties
	// (AMQP 0-9-1, 4.2.3 and 4.2.6.1).
	frameBytes = 22
)

// checkSize refuses properties that don't fit into a frame, for which the broker closes the whole connection, and headers that can't be
// written. The frame's size is what client and broker agreed on; 0 is no limit.
func checkSize(message amqp.Publishing, frameSize int) error {
	headers, err := tableBytes(message.Headers, "message.Headers", 1)
	if err != nil {
		return err
	}
	// Delivery mode and priority have a byte each, and the time eight.
	bytes := frameBytes + headers + 1 + 1 + 8
	for _, property := range shortStrings(message) {
		bytes += 1 + len(property[1])
	}
	if frameSize > 0 && bytes > frameSize {
		return &DelayError{"message.Headers", fmt.Sprintf("with all properties they have %d bytes, at most %d are allowed", bytes, frameSize)}
	}
	return nil
}

// shortStrings are the properties that are texts of at most 255 bytes, by their names.
func shortStrings(message amqp.Publishing) [][2]string {
	return [][2]string{
		{"ContentType", message.ContentType}, {"ContentEncoding", message.ContentEncoding}, {"CorrelationId", message.CorrelationId},
		{"ReplyTo", message.ReplyTo}, {"MessageId", message.MessageId}, {"Type", message.Type}, {"UserId", message.UserId},
		{"AppId", message.AppId},
	}
}

// tableBytes is how many bytes the library writes for a table.
func tableBytes(table amqp.Table, path string, depth int) (int, error) {
	bytes := 4
	for name, value := range table {
		if len(name) > shortStringBytes {
			return 0, &DelayError{path, fmt.Sprintf("a name has %d bytes, at most %d are allowed", len(name), shortStringBytes)}
		}
		field, err := fieldBytes(value, path+"."+name, depth)
		if err != nil {
			return 0, err
		}
		bytes += 1 + len(name) + field
	}
	return bytes, nil
}

// fieldBytes is how many bytes the library writes for a value of a table, with its type.
func fieldBytes(value any, path string, depth int) (int, error) {
	if depth > deepestTable {
		return 0, &DelayError{"message.Headers", "tables may not be nested so deeply, nor in a circle"}
	}
	switch given := value.(type) {
	case float64:
		return 1 + 8, finite(given, path)
	case float32:
		return 1 + 4, finite(float64(given), path)
	case string:
		return 1 + 4 + len(given), nil
	case []byte:
		return 1 + 4 + len(given), nil
	case amqp.Table:
		bytes, err := tableBytes(given, path, depth+1)
		return 1 + bytes, err
	case []any:
		bytes := 1 + 4
		for index, item := range given {
			field, err := fieldBytes(item, fmt.Sprintf("%s[%d]", path, index), depth+1)
			if err != nil {
				return 0, err
			}
			bytes += field
		}
		return bytes, nil
	default:
		// Numbers, times and truth values have eight bytes at most.
		return 1 + 8, nil
	}
}

// finite refuses a number for which RabbitMQ 4 closes the connection.
func finite(number float64, path string) error {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return &DelayError{path, "numbers must be finite"}
	}
	return nil
}
