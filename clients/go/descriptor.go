package rabbitmqdelay

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// longestTTLMs is the largest x-message-ttl of RabbitMQ, in milliseconds: ten years.
const longestTTLMs = 315_360_000_000

// descriptor reads the parts of a descriptor. After the first refusal, err is set, and what is read is not to be used.
type descriptor struct {
	name   string
	values map[string]any
	err    error
}

// readDescriptor checks the kind and the version; name is what errors call the descriptor.
func readDescriptor(given []byte, kind, name string, newest int64) *descriptor {
	read := &descriptor{name: name}
	var value any
	if !utf8.Valid(given) {
		read.err = &DescriptorError{name, "it must be JSON in UTF-8"}
	} else if err := json.Unmarshal(given, &value); err != nil {
		read.err = &DescriptorError{name, fmt.Sprintf("it must be JSON: %v", err)}
	} else if values, ok := value.(map[string]any); !ok {
		read.err = &DescriptorError{name, "it must be an object with kind: " + kind}
	} else {
		read.values = values
	}
	read.oneOf("kind", kind)
	read.integer("version", 1, newest)
	return read
}

// What is allowed where no text, and no number, can stand.
var (
	noText   = regexp.MustCompile(`^(it must be (a whole number|true or false|a list|one of \d|the \d+ exchanges)|each must be|for this shape)`)
	noNumber = regexp.MustCompile(`^it must be (a (non-empty )?text|true or false|a list|one of \D|the \d+ exchanges)`)
)

// shownUnlessSecret is a value for a message, unless it may hold a password that was mistyped: what is of another kind, and what is no
// plain word.
func shownUnlessSecret(value any, allowed string) string {
	switch value.(type) {
	case []any:
		return "this list"
	case map[string]any:
		return "this object"
	case string:
		if noText.MatchString(allowed) {
			return "this text"
		}
	case float64:
		if noNumber.MatchString(allowed) {
			return "this number"
		}
	}
	return shown(value)
}

// refuse keeps the first error; it names the property, and says what it must be.
func (d *descriptor) refuse(property, allowed string) {
	if d.err != nil {
		return
	}
	given := "a missing value"
	if value, there := d.values[property]; there {
		given = shownUnlessSecret(value, allowed)
	}
	d.err = &DescriptorError{d.name + "." + property, given + " is not allowed; " + allowed}
}

func (d *descriptor) has(property string) bool {
	_, there := d.values[property]
	return there
}

func (d *descriptor) text(property string) string {
	text, ok := d.values[property].(string)
	if !ok {
		d.refuse(property, "it must be a text")
	}
	return text
}

func (d *descriptor) oneOf(property string, allowed ...string) string {
	text, ok := d.values[property].(string)
	if !ok || !slices.Contains(allowed, text) {
		d.refuse(property, "it must be one of "+strings.Join(allowed, ", "))
	}
	return text
}

func (d *descriptor) entity(property string) string {
	text := d.text(property)
	if reason := whyNoEntity(text, shortStringBytes); reason != "" {
		d.refuse(property, reason)
	}
	return text
}

// optionalEntity is "" where the property is not there.
func (d *descriptor) optionalEntity(property string) string {
	if !d.has(property) {
		return ""
	}
	return d.entity(property)
}

func (d *descriptor) flag(property string, otherwise bool) bool {
	if !d.has(property) {
		return otherwise
	}
	flag, ok := d.values[property].(bool)
	if !ok {
		d.refuse(property, "it must be true or false")
	}
	return flag
}

func (d *descriptor) integer(property string, minimum, maximum int64) int64 {
	value, ok := integerOf(d.values[property], minimum, maximum)
	if !ok {
		d.refuse(property, fmt.Sprintf("it must be a whole number from %d to %d", minimum, maximum))
	}
	return value
}

func (d *descriptor) integers(property string, minimum, maximum int64) []int64 {
	var found []int64
	for _, given := range d.list(property) {
		value, ok := integerOf(given, minimum, maximum)
		if !ok {
			d.refuse(property, fmt.Sprintf("each must be a whole number from %d to %d", minimum, maximum))
		}
		found = append(found, value)
	}
	return found
}

func (d *descriptor) texts(property string) []string {
	var found []string
	for _, given := range d.list(property) {
		text, ok := given.(string)
		if !ok {
			d.refuse(property, "it must be a list of texts")
		}
		found = append(found, text)
	}
	return found
}

func (d *descriptor) list(property string) []any {
	list, ok := d.values[property].([]any)
	if !ok || len(list) == 0 {
		d.refuse(property, "it must be a list of at least one")
	}
	return list
}

// integerOf takes 1000, 1000.0 and 1e3 alike: JSON has one kind of number.
func integerOf(value any, minimum, maximum int64) (int64, bool) {
	number, ok := value.(float64)
	if !ok || number != math.Floor(number) || number < float64(minimum) || number > float64(maximum) {
		return 0, false
	}
	return int64(number), true
}
