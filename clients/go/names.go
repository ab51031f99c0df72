package rabbitmqdelay

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// shortStringBytes is how many bytes a name or a routing key may have (AMQP 0-9-1, 4.2.5.3).
const shortStringBytes = 255

// whyNoEntity says why a text can't name an exchange or a queue; "" if it can.
func whyNoEntity(name string, maximumBytes int) string {
	switch {
	case name == "":
		return "it must be a non-empty text"
	case strings.ContainsAny(name, "@/"):
		return "it must not contain @ or /"
	case strings.ContainsFunc(name, func(character rune) bool { return character < ' ' || character == 0x7f }):
		return "it must not contain control characters"
	case strings.HasPrefix(name, "amq."):
		return "names that start with amq. belong to the broker"
	case !utf8.ValidString(name):
		return "it must be UTF-8"
	case len(name) > maximumBytes:
		return fmt.Sprintf("it has %d bytes, at most %d bytes are allowed", len(name), maximumBytes)
	}
	return ""
}

// whyNoDestination says why a text can't be a destination in a topic's routing key; "" if it can.
func whyNoDestination(name string, maximumBytes int) string {
	if reason := whyNoEntity(name, maximumBytes); reason != "" {
		return reason
	}
	for rest, more := name, true; more; {
		var word string
		if word, rest, more = strings.Cut(rest, "."); word == "*" || word == "#" {
			return "no word between dots may be * or #, which are wildcards in a binding"
		}
	}
	return ""
}

// plainWord is what names and choices are. An address, a login, and what is in PEM have other characters.
var plainWord = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_.:/#*+-]*$`)

// shown is a value for a message: not megabytes of it, and no text that could be an address with a password in it, or a key.
func shown(value any) string {
	text := fmt.Sprintf("%v", value)
	if isText, ok := value.(string); ok {
		if !plainWord.MatchString(isText) || strings.Contains(isText, "://") {
			return "this text"
		}
		text = fmt.Sprintf("%q", isText)
	}
	if utf8.RuneCountInString(text) <= 320 {
		return text
	}
	runes := []rune(text)
	return fmt.Sprintf("%s… (%d characters)", string(runes[:300]), len(runes))
}
