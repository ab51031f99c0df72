import { BrokerCheckError } from "@rabbitmq-delay/broker";

/** Settings of the stack program that messages of the preflight name, and the provider's own that take their place in another program. */
const NAMES: readonly (readonly [string, string])[] = [
  [
    "make up starts a local one, and RABBITMQ_MANAGEMENT_URL or the stack's config points at yours",
    "pulumi config set rabbitmq:endpoint, or endpoint of the provider, points at yours",
  ],
  ["RABBITMQ_PASSWORD or pulumi config set --secret brokerPassword", "pulumi config set --secret rabbitmq:password"],
  ["or its password, or the user lacks", "or its password (rabbitmq:password), or the user lacks"],
  ["broker.managementUrl", "rabbitmq:endpoint"],
  ["broker.username", "rabbitmq:username"],
  ["broker.caCertFile", "rabbitmq:cacertFile"],
  ["broker.vhost", "vhost"],
];

/** Returns a message about the broker in the names that a program of one's own has for its settings. */
export function inProviderNames(text: string): string {
  return NAMES.reduce((named, [ours, theirs]) => named.replaceAll(ours, theirs), text);
}

/** The same for an error of the preflight. */
export function errorInProviderNames(error: unknown): unknown {
  if (!(error instanceof BrokerCheckError)) return error;
  return new BrokerCheckError(inProviderNames(error.message), error.isOutOfReach);
}
