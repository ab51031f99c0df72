import { BindingPlan, DelayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import { checkList } from "../api/answers";
import { ManagementApi, ManagementApiError } from "../api/managementApi";
import type { StackState } from "./stackState";

const BINDING = "rabbitmq:index/binding:Binding";
const COMPONENT = "rabbitmq-delay:index:EndpointDelayBinding$";

/** A network in which messages wait, and an endpoint that leaves it for another one. */
interface Left {
  network: DelayNetwork;
  destination: string;
}

/**
 * Warns about endpoints that leave a network in which messages wait, for another network: those for them would be parked when they are due.
 * @param bindings those that the endpoints have after the update
 * @param component name of the one component that these are of; default: they are all of the program's
 */
export async function warnOfLeft(
  state: StackState,
  api: ManagementApi,
  vhost: string,
  bindings: readonly BindingPlan[],
  component?: string,
): Promise<string[]> {
  const left = await leftBy(state, vhost, bindings, component);
  if (left.length === 0) return [];
  const messages = await countMessages(api, vhost);
  return left.flatMap(({ network, destination }) => {
    const queues = (planEntities(network).queues ?? []).filter(({ name }) => name !== network.parkingQueue);
    const counts = queues.map(({ name }) => (messages.has(name) ? messages.get(name) : 0));
    const isCounted = counts.every((count) => count !== undefined);
    const count = counts.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    if (isCounted && count === 0) return [];
    const counted = count === 1 ? "1 message waits" : `${count} messages wait`;
    const waiting = isCounted ? counted : "an unknown number of messages waits";
    const fate = network.parkingQueue === undefined ? "have no way" : "are parked";
    return [
      `endpoint ${destination} leaves network ${network.prefix}, in which ${waiting}: those for ${destination} ${fate} when they are ` +
        "due. Declare the new network beside the old one, let the endpoint join both (furtherNetworks in a program, a further network in the " +
        "config), and take the old one out when nothing waits in it",
    ];
  });
}

async function leftBy(
  state: StackState,
  vhost: string,
  bindings: readonly BindingPlan[],
  component: string | undefined,
): Promise<Left[]> {
  const joined = new Set(bindings.map(({ source, destination }) => JSON.stringify([source, destination])));
  const destinations = new Set(
    bindings.filter(({ source }) => networkOfDelivery(source)).map((one) => one.destination),
  );
  const own = (await state.resources()) ?? [];
  const left = new Map<string, Left>();
  for (const { type, urn, outputs } of own) {
    const { source, destination } = outputs as Record<string, string>;
    if (type !== BINDING || outputs.vhost !== vhost || source === undefined || destination === undefined) continue;
    const isOfComponent = urn.includes(COMPONENT) && (component === undefined || urn.includes(`::${component}-`));
    const network = networkOfDelivery(source);
    const key = JSON.stringify([source, destination]);
    if (!isOfComponent || network === undefined || joined.has(key) || !destinations.has(destination)) continue;
    left.set(key, { network, destination });
  }
  return [...left.values()];
}

/** Returns how many messages wait in each queue; undefined for a queue that the broker has not counted. */
async function countMessages(api: ManagementApi, vhost: string): Promise<Map<string, number | undefined>> {
  const path = `queues/${encodeURIComponent(vhost)}?columns=name,messages`;
  const answer = await api.get<unknown>(path).catch((error: ManagementApiError) => {
    throw new BrokerCheckError(`broker.vhost: the messages of ${vhost} can't be counted: ${error.reason}`);
  });
  const queues = checkList<{ name: string; messages?: unknown }>(path, answer, { name: "string" });
  return new Map(queues.map(({ name, messages }) => [name, typeof messages === "number" ? messages : undefined]));
}
