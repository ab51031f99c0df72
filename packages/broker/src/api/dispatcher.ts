import { BlockList, isIPv4 } from "node:net";
import type { Dispatcher } from "undici";
import { BrokerCheckError } from "../brokerCheckError";

/** How the certificate of an `https` address is verified. */
interface TlsSettings {
  ca: Buffer | undefined;
  rejectUnauthorized: boolean;
}

/**
 * How requests go to an address: like the provider's, through the proxy that the environment names. Otherwise preflight would get no answer
 * although an update would succeed. As for the provider, no proxy is used for this machine itself.
 * @throws BrokerCheckError for a proxy whose address is invalid
 */
export async function dispatcherFor(address: string, tls: TlsSettings, environment = process.env): Promise<Dispatcher> {
  const proxy = proxyOf(address, environment);
  const options = { connect: tls, keepAliveTimeout: 1 };
  // Loaded by the first request, because many commands and programs send none.
  const { Agent, ProxyAgent } = await import("undici");
  if (proxy === undefined) return new Agent(options);
  return new ProxyAgent({
    ...options,
    uri: proxy,
    requestTls: tls,
    proxyTunnel: new URL(address).protocol === "https:",
  });
}

/**
 * The proxy that the environment names for an address, if any.
 * @throws BrokerCheckError for a proxy whose address is invalid
 */
export function proxyOf(address: string, environment = process.env): string | undefined {
  const proxy = proxyFor(new URL(address), environment);
  if (proxy === undefined || (URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol))) return proxy;
  throw new BrokerCheckError(
    "HTTP_PROXY, HTTPS_PROXY: it must be an address like http://proxy.example.com:3128; what was given is none",
  );
}

/** Reads the variables as Go does, in which the provider is written. */
function proxyFor({ protocol, hostname, port }: URL, environment: NodeJS.ProcessEnv): string | undefined {
  const read = (name: string): string => environment[name] || environment[name.toLowerCase()] || "";
  const proxy = read(protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isExcepted = read("NO_PROXY")
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== "" && isMeant(entry, hostname, port));
  return proxy === "" || isHere || isExcepted ? undefined : proxy.includes("://") ? proxy : `http://${proxy}`;
}

/**
 * Whether an entry of NO_PROXY covers a host: a name covers itself and everything below it, a name that begins with a dot only what is
 * below it, `10.0.0.0/8` a network, and `*` everything.
 */
function isMeant(entry: string, hostname: string, port: string): boolean {
  if (entry === "*") return true;
  const [network = "", bits] = entry.split("/");
  if (bits !== undefined) return isInNetwork(network, Number(bits), hostname);
  const [, name = "", only] = /^(.*?)(?::(\d+))?$/.exec(entry.replace(/^\*(?=\.)/, "")) ?? [];
  if (only !== undefined && only !== port) return false;
  return hostname === name || hostname.endsWith(name.startsWith(".") ? name : `.${name}`);
}

function isInNetwork(network: string, bits: number, hostname: string): boolean {
  if (!isIPv4(network) || !isIPv4(hostname) || !(bits >= 0 && bits <= 32)) return false;
  const list = new BlockList();
  list.addSubnet(network, bits);
  return list.check(hostname);
}
