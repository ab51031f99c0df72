import { BindingPlan, DelayedExchange, foreignBindings, planDelayedExchange } from "@rabbitmq-delay/topology";
import { BrokerCheckError } from "../brokerCheckError";
import type { StackState } from "./stackState";

const EXCHANGE = "rabbitmq:index/exchange:Exchange";

/** What of a broker is compared with delayed exchanges. */
interface Found {
  exchanges: ReadonlyMap<string, unknown>;
  bindings: () => Promise<BindingPlan[]>;
}

/**
 * Checks what others have at a delayed exchange that is there: their bindings take messages before their time is over.
 * @param isReplaceable whether what leaves the program is deleted
 * @returns warnings, for an exchange that this stack has declared before
 * @throws BrokerCheckError where the exchange is not this stack's yet, and where the delivery exchange would be deleted that others are to declare
 */
export async function checkDelayedExchanges(
  state: StackState,
  vhost: string,
  exchanges: readonly DelayedExchange[],
  found: Found,
  isReplaceable: boolean,
): Promise<string[]> {
  if (exchanges.length === 0) return [];
  const own = await state.names(EXCHANGE, vhost);
  const planned = new Set(exchanges.flatMap((one) => planDelayedExchange(one).exchanges).map(({ name }) => name));
  const left = exchanges.find(({ delivery }) => isReplaceable && own?.has(delivery) === true && !planned.has(delivery));
  if (left !== undefined)
    throw new BrokerCheckError(
      `delayed exchange ${left.exchange}: this stack has declared ${left.delivery}, and would delete it with all bindings of its consumers; ` +
        "set removal: retain for one update, or keep declareDelivery: true",
    );
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
    if (first !== undefined && own?.has(exchange) !== true) throw new BrokerCheckError(first);
    return sentences;
  });
}
