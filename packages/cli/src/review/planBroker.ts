import { isSameAddress } from "rabbitmq-delay-topology";
import type { Preview } from "./preview";
import { typeOf } from "./urn";

/** The addresses of the brokers that a plan declares on, as its providers have them; some may be secret, or not known yet. */
export function plannedEndpoints({ steps }: Pick<Preview, "steps">): unknown[] {
  const providers = steps.filter(({ urn }) => typeOf(urn) === "pulumi:providers:rabbitmq");
  return providers.flatMap(({ oldState, newState }) =>
    [oldState, newState].flatMap((state) => (state === undefined ? [] : [state.inputs?.endpoint])),
  );
}

/** Where the plan declares, without a user, if all of it is at addresses that can be read and none is the given one. */
export function otherPlace(preview: Pick<Preview, "steps">, url: string): string | undefined {
  const endpoints = plannedEndpoints(preview);
  const hosts = endpoints.map((endpoint) =>
    URL.canParse(String(endpoint)) ? new URL(String(endpoint)).origin : "null",
  );
  if (endpoints.length === 0 || hosts.includes("null")) return undefined;
  return endpoints.some((endpoint) => isSameAddress(endpoint, url)) ? undefined : [...new Set(hosts)].sort().join(", ");
}
