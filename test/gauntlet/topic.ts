/**
 * Whether a topic binding takes a routing key, as AMQP 0-9-1 says it: words between dots, `*` for one word, `#` for any number of them.
 * The gauntlet's own, so that it doesn't share a mistake with what it tests.
 */
export function takes(bindingKey: string, routingKey: string): boolean {
  return wordsMatch(bindingKey.split("."), routingKey.split("."));
}

function wordsMatch(pattern: string[], words: string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === "#") return words.some((_, index) => wordsMatch(rest, words.slice(index))) || wordsMatch(rest, []);
  const [word, ...left] = words;
  return word !== undefined && (first === "*" || first === word) && wordsMatch(rest, left);
}
