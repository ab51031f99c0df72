import { SECRET, formsOf, replaceable, withoutKnown } from "@rabbitmq-delay/topology/stack";

export { SECRET };

/** Names of properties whose values nobody should read in a pull request, whether or not the program made them secret. */
const SECRET_NAMES = new RegExp(
  [
    "pass(word|wd|phrase)?$|^pwd$|[._-]pwd$|secret|token|credential|cookie|signature|bearer|authori[sz]ation|^auth$|[._-]auth$",
    "(private|api|access|account|shared|master|encryption|signing|session|ssh).?key|kubeconfig|connection.?string|^dsn$|[._-]dsn$",
    "_(pass|pwd|key)$|_pass(word|wd)?_|sas$|\\.pem$|\\.key$|jwt",
  ].join("|"),
  "i",
);

/** Whether the name of a property, or the last part of its path, says that its value is secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name);
}

/** Forms in which secrets occur in running text; the first group of each is kept. */
const PATTERNS: [RegExp, string][] = [
  [/-----BEGIN [A-Z0-9 ]*-----[\s\S]*?(-----END [A-Z0-9 ]*-----|$)/g, SECRET],
  // The part of a URL before the last @ of its first word is a user and a password; a password may have @, / and : in it.
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>`]*@/gi, `$1${SECRET}@`],
  // The same for a URL whose password has blanks or quotes, and for one that was cut off in the middle.
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:/@"'<>`]*:)(?!\d+(?:[/?#\s]|$))[^\n]*@/gi, `$1${SECRET}@`],
  [
    /((?:amqps?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|rediss|sqlserver|https?):\/\/[^\s:/@"'<>`]*:)(?!\d+\b)[^\s"'<>`]+/gi,
    `$1${SECRET}`,
  ],
  [/\b(Bearer|Basic|Digest|Negotiate|ApiKey|token)\s+[A-Za-z0-9._~+/=:-]{6,}/gi, `$1 ${SECRET}`],
  [
    /(["']?[\w.-]*(?:passw(?:or)?d|passphrase|passwd|pwd|secret|token|credential|cookie|authori[sz]ation|(?:api|access|private|account|shared)[._-]?key|signature|\bsig|\bauth)[\w.-]*["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&"']+)/gi,
    `$1${SECRET}`,
  ],
  [/(--?(?:password|passphrase|pass|token|secret|api-?key|user(?:name)?)[ =])("[^"]*"|'[^']*'|\S+)/gi, `$1${SECRET}`],
  [/\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)*/g, SECRET],
  [/\b(AKIA|ASIA)[A-Z0-9]{12,}\b|\b(gh[pousr]|glpat|xox[abps]|pul|sk|npm)[-_][A-Za-z0-9_-]{12,}/g, SECRET],
];

/**
 * Removes from a text the secrets that it is known to hold, and anything that looks like one. A text can hold a secret that looks like
 * nothing in particular, so values that are known to be secret are never put into a text at all.
 * @param known values that are secret, whatever they look like; those under 4 characters are ignored
 */
export function withoutSecrets(text: string, known: Iterable<string> = []): string {
  const secrets = replaceable(known);
  let shown = withoutKnown(text, secrets);
  shown = shown.replace(/[A-Za-z0-9+/_-]{6,}={0,2}/g, (run) => (holdsEncoded(run, secrets) ? SECRET : run));
  for (const [pattern, replacement] of PATTERNS) shown = shown.replace(pattern, replacement);
  return shown;
}

/** Whether a run of characters is a secret in base64, alone or after a user's name; it may begin anywhere in the run. */
function holdsEncoded(run: string, secrets: string[]): boolean {
  return [0, 1, 2, 3].some((start) => {
    const decoded = Buffer.from(run.slice(start), "base64").toString("utf8");
    return secrets.some((secret) => decoded.includes(secret));
  });
}

/** The secrets in the process's environment, such as the broker's password and the engine's passphrase. */
export function secretsOf(environment: NodeJS.ProcessEnv = process.env): string[] {
  return Object.entries(environment).flatMap(([name, value = ""]) =>
    isSecretName(name) ? formsOf(value) : passwordsIn(value),
  );
}

/** Every text in a place whose name says that it is secret. */
export function secretsIn(value: unknown, isSecret = false, found: string[] = []): string[] {
  if (typeof value === "string") {
    found.push(...(isSecret ? formsOf(value) : passwordsIn(value)));
  } else if (Array.isArray(value)) {
    for (const item of value) secretsIn(item, isSecret, found);
  } else if (typeof value === "object" && value !== null) {
    const { name, value: given } = value as { name?: unknown; value?: unknown };
    if (typeof name === "string" && typeof given === "string") secretsIn(given, isSecret || isSecretName(name), found);
    for (const [key, item] of Object.entries(value)) {
      secretsIn(item, isSecret || isSecretName(key) || key === "stringData", found);
    }
  }
  return found;
}

function passwordsIn(text: string): string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^\s:/]*:(\S+)@/i.exec(text)?.[1];
  return password === undefined ? [] : formsOf(password);
}
