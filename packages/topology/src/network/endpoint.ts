import { maximumOwnedBytes } from "../access/ownership";
import { DelayTopologyError, checkOneOf } from "../errors";
import type { DelayNetwork } from "./delayNetwork";
import type { BindingPlan } from "../entities";
import { brokerLimits, checkEndpointName, checkEntityName, checkShortString, isClean, utf8Length } from "../names";
import type { EndpointClient } from "./clientEndpoint";
import { maximumDestinationBytes } from "./levels";
import { BoundPattern, checkEndpointsApart } from "./topic";

/** A queue or exchange of a service that shall receive delayed messages. */
export interface Endpoint {
  /** Name of the queue or exchange; also the destination that publishers give, unless `patterns` says otherwise. */
  name: string;
  /** Default `queue`. */
  type?: "queue" | "exchange";
  /** Destinations that reach this endpoint, words between dots, `*` for any one word. Default: the name alone. */
  patterns?: string[];
  /**
   * Whose client consumes it. A Celery worker binds its exchange by `#.NAME` when it starts, whatever is bound already; so on Celery's
   * networks that one binding is planned, in the place of an exact one that it would make void.
   */
  client?: EndpointClient;
}

/** What an endpoint adds to a broker that has the network. */
export interface EndpointPlan {
  bindings: BindingPlan[];
  /** The patterns with their binding keys, for {@link checkEndpointsApart}. */
  bound: BoundPattern[];
}

/**
 * The key that binds `pattern` to the network: one `*` per level and the pattern, or `#.` and the pattern.
 * @throws DelayTopologyError when it would have over 255 bytes
 */
export function bindingKey(network: Pick<DelayNetwork, "matching" | "levels">, pattern: string): string {
  return network.matching === "suffix" ? `#.${pattern}` : `${"*.".repeat(network.levels)}${pattern}`;
}

/**
 * Plans the bindings of one endpoint.
 * @throws DelayTopologyError for a bad name, a wildcard where none may stand, a name that no routing key has room for
 */
export function planBinding(network: DelayNetwork, endpoint: Endpoint): EndpointPlan {
  const type = checkOneOf("endpoint.type", endpoint.type ?? "queue", ["queue", "exchange"] as const);
  const explicit = endpoint.patterns;
  if (utf8Length(String(endpoint.name)) > brokerLimits.shortStringBytes)
    checkShortString("endpoint.name", endpoint.name, maximumEndpointBytes(network, endpoint, endpoint.name));
  const name =
    explicit === undefined
      ? checkEndpointName("endpoint.name", endpoint.name)
      : checkEntityName("endpoint.name", endpoint.name);
  if (explicit !== undefined && (!Array.isArray(explicit) || explicit.length === 0)) {
    throw new DelayTopologyError(
      "endpoint.patterns",
      explicit,
      "it must be a list of at least one pattern, or left out",
    );
  }
  const patterns = explicit ?? [name];
  patterns.forEach((pattern, index) =>
    checkPattern(network, endpoint, explicit === undefined ? "endpoint.name" : `endpoint.patterns[${index}]`, pattern),
  );
  const bound = patterns.map((pattern) => ({
    endpoint: name,
    pattern,
    bindingKey: bindingKey(isBoundByWorkers(network, endpoint) ? { ...network, matching: "suffix" } : network, pattern),
    ...(isBoundByClients(network) ? { clientKey: bindingKey({ ...network, matching: "suffix" }, pattern) } : {}),
  }));
  checkEndpointsApart(bound);
  const bindings = bound.map(({ bindingKey: routingKey }) => ({
    source: network.bindingExchange,
    destination: name,
    destinationType: type,
    routingKey,
  }));
  return { bindings, bound };
}

/** Whether a Celery worker binds the endpoint itself. */
function isBoundByWorkers({ preset }: DelayNetwork, { client }: Endpoint): boolean {
  return preset === "celery" && client === "celery";
}

/** Whether a vendor's clients bind their endpoints where messages arrive, whatever is bound there already. */
function isBoundByClients({ preset, matching }: DelayNetwork): boolean {
  return preset !== "custom" && matching !== "enforced";
}

/**
 * Room for a name or a pattern of an endpoint, in bytes of UTF-8: in a routing key of the network for what is bound, and in a claim for what
 * has no wildcard. So the lower limit of both is named at once.
 */
export function maximumEndpointBytes(
  network: Pick<DelayNetwork, "levels">,
  { name, patterns = [name] }: Pick<Endpoint, "name" | "patterns">,
  text: string,
): number {
  const room = patterns.includes(text) ? maximumDestinationBytes(network) : brokerLimits.shortStringBytes;
  return text.split(".").includes("*") ? room : Math.min(room, maximumOwnedBytes("endpoint"));
}

function checkPattern(network: DelayNetwork, endpoint: Endpoint, property: string, pattern: unknown): void {
  // The Pulumi provider separates the parts of a binding's id by them, and could neither refresh nor delete it.
  if (typeof pattern !== "string" || pattern === "" || /[@/]/.test(pattern)) {
    throw new DelayTopologyError(property, pattern, "it must be a non-empty text without @ and /");
  }
  if (!isClean(pattern)) throw new DelayTopologyError(property, pattern, "control characters are not allowed");
  if (pattern.split(".").includes("#")) {
    throw new DelayTopologyError(property, pattern, "the word # matches any number of words; use * for one word");
  }
  if (utf8Length(pattern) > maximumDestinationBytes(network))
    checkShortString(property, pattern, maximumEndpointBytes(network, endpoint, pattern));
}
