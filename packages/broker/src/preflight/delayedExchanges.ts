import { BindingPlan, DelayedExchange, foreignBindings } from "@rabbitmq-delay/topology";
import { BrokerCheckError } from "../brokerCheckError";
import { FORGET } from "./claims";
import type { StackState } from "./stackState";

const EXCHANGE = "rabbitmq:index/exchange:Exchange";

/** What of a broker is compared with delayed exchanges. */
interface Found {
  exchanges: ReadonlyMap<string, unknown>;
  bindings: () => Promise<BindingPlan[]>;
}

/**
 * Checks what others have at a delayed exchange that is there: their bindings take messages before their time is over.
 * @param options `isReplaceable`: whether what leaves the program is deleted; `planned`: names of all exchanges that the program declares
 * @returns warnings, for an exchange that this stack has declared before
 * @throws BrokerCheckError where the exchange is not this stack's yet, and where the delivery exchange would be deleted that others are to declare
 */
export async function checkDelayedExchanges(
  state: StackState,
  vhost: string,
  exchanges: readonly DelayedExchange[],
  found: Found,
  {
    managementUrl,
    isReplaceable,
    planned,
  }: { managementUrl: string; isReplaceable: boolean; planned: ReadonlySet<string> },
): Promise<string[]> {
  if (exchanges.length === 0) return [];
  const own = await ownExchanges(state, vhost, managementUrl);
  for (const { exchange, delivery, type } of exchanges) {
    const part = own?.find((one) => one.name === delivery && one.isPart);
    if (type !== undefined || !isReplaceable || part === undefined || planned.has(delivery)) continue;
    throw new BrokerCheckError(
      `delayed exchange ${exchange}: this stack has declared its delivery exchange ${delivery}, and would delete it with all bindings of its ` +
        "consumers. Keep declareDelivery: true, or let the stack forget the delivery exchange and what depends on it first, which touches nothing " +
        `on the broker, by ${FORGET}: ${part.urn}`,
    );
  }
  const there = exchanges.filter(({ exchange }) => found.exchanges.has(exchange));
  if (there.length === 0) return [];
  const bindings = await found.bindings();
  return there.flatMap((descriptor) => {
    const { exchange } = descriptor;
    const sentences = foreignBindings(descriptor, bindings).map(
      ({ binding: { source, destination, destinationType, routingKey }, harm }) =>
        `delayed exchange ${exchange}: ${destinationType} ${destination} is bound to exchange ${source} by ${JSON.stringify(routingKey)}, and ${harm}`,
    );
    const [first] = sentences;
    if (first !== undefined && own === undefined)
      throw new BrokerCheckError(
        `${first}. Whether this stack has declared it can't be told, because its state can't be read`,
      );
    if (first !== undefined && own?.every(({ name }) => name !== exchange)) throw new BrokerCheckError(first);
    return sentences;
  });
}

/** Exchanges that this stack has declared on this broker, and whether each is a part of a delayed exchange; undefined where the state can't be read. */
async function ownExchanges(
  state: StackState,
  vhost: string,
  managementUrl: string,
): Promise<{ urn: string; name: unknown; isPart: boolean }[] | undefined> {
  const resources = await state.resources();
  if (resources === undefined) return undefined;
  if (!(await state.isOf(managementUrl))) return [];
  return resources
    .filter(({ type, outputs }) => type === EXCHANGE && outputs.vhost === vhost)
    .map(({ urn, outputs }) => ({
      urn,
      name: outputs.name,
      isPart: urn.includes(`rabbitmq-delay:index:DelayedExchange$${EXCHANGE}::`),
    }));
}
