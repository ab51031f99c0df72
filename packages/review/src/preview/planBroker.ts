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

/** Returns a function that says whether two changes may be on one broker: unless both addresses can be read, and differ. */
export function mayShareBroker(changes: readonly EntityChange[]): (one: EntityChange, other: EntityChange) => boolean {
  const providers = changes.filter(({ type }) => type === "pulumi:providers:rabbitmq");
  const endpoints = new Map(providers.map(({ urn, before, after }) => [urn, (after ?? before)?.endpoint]));
  const addressOf = ({ provider = "" }: EntityChange): unknown => endpoints.get(provider);
  return (one, other) => {
    if (one.provider === other.provider) return true;
    const [here, there] = [addressOf(one), addressOf(other)].map(String) as [string, string];
    return !URL.canParse(here) || !URL.canParse(there) || isSameAddress(here, there);
  };
}

/** Returns a function that says whether a change is on another broker than the one at an address. */
export function changesElsewhere(changes: readonly EntityChange[], url: string): (urn: string) => boolean {
  const providers = changes.filter(({ type }) => type === "pulumi:providers:rabbitmq");
  const endpoints = new Map(providers.map(({ urn, before, after }) => [urn, (before ?? after)?.endpoint]));
  const known = [...endpoints.values()].map(String);
  // If everything is at one address, that is the broker that was asked, under whatever name: a tunnel or a proxy may have another.
  const isOne = known.every((endpoint) => endpoint === known[0] || isSameAddress(endpoint, known[0] as string));
  if (isOne) return () => false;
  const byUrn = new Map(changes.map((change) => [change.urn, change]));
  return (urn) => !isSameAddress(endpoints.get(byUrn.get(urn)?.provider ?? ""), url);
}
