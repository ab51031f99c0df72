import * as pulumi from "@pulumi/pulumi";
import type { BrokerAddress } from "@rabbitmq-delay/broker";

const NAMES = ["endpoint", "username", "password", "cacertFile", "insecure", "proxy", "clientcertFile"] as const;

/** Settings of a provider, as its resource has them; texts, but for `insecure`, which is JSON. */
export type Settings = Partial<Record<(typeof NAMES)[number], pulumi.Input<unknown>>>;

/**
 * Where a provider's broker is.
 * @param provider undefined for the default one, which the config `rabbitmq:` and the environment tell of
 * @returns undefined where it can't be asked from here: a provider of a program in another language, one behind a proxy or with a
 * client's certificate, and one whose address is not known in a preview
 */
export async function addressOf(provider: pulumi.ProviderResource | undefined): Promise<BrokerAddress | undefined> {
  const settings = settingsOf(provider);
  const values = await Promise.all(NAMES.map((name) => valueOf(pulumi.output(settings[name]))));
  const [endpoint, username, password, cacertFile, insecure, proxy, clientcertFile] = values;
  if ([endpoint, username, password].some((value) => typeof value !== "string")) return undefined;
  if (proxy !== undefined || clientcertFile !== undefined) return undefined;
  return {
    managementUrl: endpoint as string,
    username: username as string,
    password: password as string,
    caCertFile: cacertFile as string | undefined,
    insecure: String(insecure) === "true",
  };
}

/** The same as an output, which a preview that does not know the address leaves unknown. */
export function addressOutput(provider: pulumi.ProviderResource | undefined): pulumi.Output<BrokerAddress | undefined> {
  const { endpoint, username, password } = settingsOf(provider);
  // A preview knows none of the settings that a program leaves out, so the others are not waited for.
  return pulumi.all([endpoint, username, password]).apply(() => addressOf(provider));
}

/** Whether a provider says where its broker is, now or once that is there. */
export function hasAddress(provider: pulumi.ProviderResource | undefined): boolean {
  return settingsOf(provider).endpoint !== undefined;
}

/** What a provider says of its broker, or what the config and the environment say for the default one. */
export function settingsOf(provider: pulumi.ProviderResource | undefined): Settings {
  return provider === undefined ? defaultSettings() : (provider as unknown as Settings);
}

/** As the provider itself reads them. */
function defaultSettings(): Settings {
  const config = new pulumi.Config("rabbitmq");
  const { env } = process;
  return {
    endpoint: config.get("endpoint") ?? env.RABBITMQ_ENDPOINT,
    username: config.getSecret("username") ?? env.RABBITMQ_USERNAME,
    password: config.getSecret("password") ?? env.RABBITMQ_PASSWORD,
    cacertFile: config.get("cacertFile") ?? env.RABBITMQ_CACERT,
    insecure: config.get("insecure") ?? env.RABBITMQ_INSECURE,
    proxy: config.get("proxy") ?? env.RABBITMQ_PROXY,
    clientcertFile: config.get("clientcertFile") ?? env.RABBITMQ_CLIENTCERT,
  };
}

/** An output's value, free of what it depends on and of whether it is secret; undefined where a preview doesn't know it. */
export async function valueOf<T>(output: pulumi.Output<T>): Promise<T | undefined> {
  const { isKnown } = output as unknown as { isKnown: Promise<boolean> };
  if (!(await isKnown)) return undefined;
  // How the SDK itself reads an output.
  return (output as unknown as { promise(): Promise<T> }).promise();
}
