/** Protocols that people name by mistake. What else stands before a colon may be a user or a password. */
const COMMON = [
  "http",
  "https",
  "amqp",
  "amqps",
  "mysql",
  "mariadb",
  "mongodb",
  "redis",
  "sqlite",
  "file",
  "jdbc",
  "tcp",
];

/** An address's protocol, as a message may show it. */
export function shownProtocol({ protocol }: URL): string {
  const name = protocol.slice(0, -1);
  return COMMON.includes(name) ? name : "another one";
}

/** Whether a password with a character that ends an address's host has moved a part of itself to where messages show it. */
export function hasStrayAt({ pathname, search, hash }: URL): boolean {
  return `${pathname}${search}${hash}`.includes("@");
}

/** A file's path, as a message may show it: what has an @ may be an address with a password. */
export function shownPath(path: string): string {
  return path.includes("@") ? "…" : path;
}

/** A text in the wrong place, as a message may show it: a short word or number; any other may be a password. */
export function shownText(text: string): string {
  return /^([a-z]{0,5}|-?\d{1,5}(\.\d{1,3})?)$/.test(text)
    ? JSON.stringify(text)
    : "a text, which is not shown because it may hold a password,";
}
