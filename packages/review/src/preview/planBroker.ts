import { isSameAddress } from "@rabbitmq-delay/topology/stack";
import type { EntityChange } from "./entityChange";
import type { Preview } from "./preview";
import { typeOf } from "./urn";

/** The addresses of the brokers on which a plan declares, as its providers have them; some may be secret, or not known yet. */
export function plannedEndpoints({ steps }: Pick<Preview, "steps">): unknown[] {
  const providers = steps.filter(({ urn }) => typeOf(urn) === "pulumi:providers:rabbitmq");
  return providers.flatMap(({ oldState, newState }) =>
    [oldState, newState].flatMap((state) => (state === undefined ? [] : [state.inputs?.endpoint])),
  );
}

/** Where the plan declares, without a user, if all addresses can be read and none is the given one. */
export function otherPlace(preview: Pick<Preview, "steps">, url: string): string | undefined {
  const endpoints = plannedEndpoints(preview);
  const hosts = endpoints.map((endpoint) =>
    URL.canParse(String(endpoint)) ? new URL(String(endpoint)).origin : "null",
  );
  if (endpoints.length === 0 || hosts.includes("null")) return undefined;
  return endpoints.some((endpoint) => isSameAddress(endpoint, url)) ? undefined : [...new Set(hosts)].sort().join(", ");
}

const PROVIDER = "pulumi:providers:rabbitmq";

/** The addresses of the brokers on which the providers declare, before the update and after it, by the providers' URNs. */
function addressesOf(changes: readonly EntityChange[]): (change: EntityChange) => unknown[] {
  const providers = changes.filter(({ type }) => type === PROVIDER);
  const found = new Map(providers.map((one) => [one.urn, endpointsOf(one)]));
  return ({ provider = "", otherProvider }) =>
    [...new Set([provider, otherProvider?.before ?? provider, otherProvider?.after ?? provider])].flatMap(
      (urn) => found.get(urn) ?? [undefined],
    );
}

function endpointsOf({ before, after, action, reasons }: EntityChange): unknown[] {
  const endpoints = [...new Set([before, after].filter((one) => one !== undefined).map(({ endpoint }) => endpoint))];
  // Of two secrets, only the engine knows whether they are the same.
  const isSure = action === "same" || endpoints.every(isAddress) || reasons?.includes("endpoint") === false;
  return isSure ? endpoints : [...endpoints, undefined];
}

function isAddress(endpoint: unknown): endpoint is string {
  return typeof endpoint === "string" && URL.canParse(endpoint);
}

/** Returns a function that says whether two changes may be on one broker: unless both addresses can be read, and differ. */
export function mayShareBroker(changes: readonly EntityChange[]): (one: EntityChange, other: EntityChange) => boolean {
  const addresses = addressesOf(changes);
  return (one, other) =>
    one.provider === other.provider ||
    addresses(one).some((here) =>
      addresses(other).some((there) => !isAddress(here) || !isAddress(there) || isSameAddress(here, there)),
    );
}

/** Returns a function that says whether a change is, or may be, on another broker than the one at an address. */
export function changesElsewhere(changes: readonly EntityChange[], url: string): (urn: string) => boolean {
  const addresses = addressesOf(changes);
  const onBrokers = changes.filter(({ type }) => type.startsWith("rabbitmq:"));
  const all = onBrokers.map(addresses);
  const places = new Set(all.flat());
  const [place] = places;
  // If everything is at one address, that is the broker that was asked, under whatever name: a tunnel or a proxy may have another.
  const isOneAddress = isAddress(place) && [...places].every((one) => isSameAddress(one, place));
  const providers = new Set(
    onBrokers.map(({ provider = "", otherProvider }) =>
      // The default provider has a name for each version of its package.
      (otherProvider?.after ?? provider).replace(/::default(?:_[\w.]*)?$/, "::default"),
    ),
  );
  if (isOneAddress || (providers.size <= 1 && places.size <= 1)) return () => false;
  const byUrn = new Map(onBrokers.map((change) => [change.urn, change]));
  return (urn) => {
    const change = byUrn.get(urn);
    return change !== undefined && !addresses(change).every((one) => isSameAddress(one, url));
  };
}
