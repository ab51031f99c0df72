/** Protocols that people use by mistake. Any other text before a colon may be a user or a password. */
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

/** An address's protocol, in a form that a message may show. */
export function showProtocol({ protocol }: URL): string {
  const name = protocol.slice(0, -1);
  return COMMON.includes(name) ? name : "another one";
}

/** Whether a character in the password ended the address's host early, so that a part of the password is where messages show it. */
export function hasStrayAt({ pathname, search, hash }: URL): boolean {
  return `${pathname}${search}${hash}`.includes("@");
}

/** A text in the wrong place, in a form that a message may show: a short word or number; anything else may be a password. */
export function showText(text: string): string {
  return /^([a-z]{0,5}|-?\d{1,5}(\.\d{1,3})?)$/.test(text)
    ? JSON.stringify(text)
    : "a text, which is not shown because it may hold a password,";
}
