import type { BindingPlan } from "@rabbitmq-delay/topology";
import { bindingIdentity } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import type { ManagementApi, ManagementApiError } from "./managementApi";

/** A binding as the broker shows it. */
export interface FoundBinding {
  source: string;
  destination: string;
  destination_type: string;
  routing_key: string;
  arguments?: Record<string, string | number>;
}

/** The bindings of exchanges in the form of plans; those of the default exchange, which every queue has, are left out. */
export function asPlans(found: readonly FoundBinding[]): BindingPlan[] {
  return found
    .filter(({ source }) => source !== "")
    .map(({ source, destination, destination_type: type, routing_key: routingKey, arguments: values = {} }) => ({
      source,
      destination,
      destinationType: type as BindingPlan["destinationType"],
      routingKey,
      ...(Object.keys(values).length === 0 ? {} : { arguments: values }),
    }));
}

/** @throws BrokerCheckError if the broker does not say */
export async function readBindings(api: ManagementApi, vhost: string): Promise<FoundBinding[]> {
  const path = `bindings/${encodeURIComponent(vhost)}?columns=source,destination,destination_type,routing_key,arguments`;
  return api.get<FoundBinding[]>(path).catch(({ status, reason }: ManagementApiError) => {
    // The program makes the vhost in the same update.
    if (status === 404) return [];
    throw new BrokerCheckError(`vhost: the bindings of ${vhost} can't be read: ${reason}`);
  });
}

/** The planned bindings that are not on the broker yet. */
export function missingBindings(planned: readonly BindingPlan[], found: readonly FoundBinding[]): BindingPlan[] {
  const there = new Set(asPlans(found).map(bindingIdentity));
  return planned.filter((binding) => !there.has(bindingIdentity(binding)));
}
