import { OwnershipPlan, shownAddress } from "@rabbitmq-delay/topology/stack";
import type { StackState } from "./stackState";
import { BrokerCheckError } from "../brokerCheckError";
import { FORGET, FoundClaim } from "./claims";
import type { BrokerAddress } from "../api/managementApi";

/**
 * Checks that a vhost in the state is this stack's on this very broker. If the stack was pointed at another broker, a vhost of that name
 * there is somebody else's, and would be deleted with the stack. A claim of this stack in the vhost shows that only the address changed.
 * @throws BrokerCheckError for a vhost that nothing shows to be this stack's, with the ways out
 */
export async function checkVhostIsHere(
  state: StackState,
  { managementUrl }: BrokerAddress,
  { vhost, claims = [] }: { vhost: string; claims?: readonly OwnershipPlan[] },
  exchanges: readonly FoundClaim[],
): Promise<void> {
  if (await state.isOf(managementUrl)) return;
  const found = new Map(exchanges.map(({ name, arguments: values }) => [name, values["alternate-exchange"]]));
  if (claims.some(({ name, arguments: values }) => found.get(name) === values["alternate-exchange"])) return;
  throw new BrokerCheckError(
    `broker.managementUrl: this stack's state is of a broker at another address than ${shownAddress(managementUrl)}, whose vhost ` +
      `${vhost} nothing shows to be this stack's; nothing was made. With createVhost: true, it would go with this stack, with ` +
      `everybody's messages. Take a stack of its own for each broker (pulumi stack init). Where it is the same broker, let the ` +
      `stack forget the vhost, which touches nothing on the broker, by ${FORGET}, and then set createVhost: false`,
  );
}

/**
 * Warns if a broker has nothing of what the state has in a vhost, or lacks some of what the program declares again: the engine believes that
 * all of it exists, so an update succeeds and declares nothing. It is not an error, because `pulumi up --refresh` declares it, and shows a
 * program the state from before.
 */
export async function warnOfMissing(
  state: StackState,
  { managementUrl }: BrokerAddress,
  { vhost, entities }: { vhost: string; entities: { exchanges: { name: string }[]; queues: { name: string }[] } },
  found: { exchanges: ReadonlySet<string>; queues: ReadonlySet<string> },
): Promise<string[]> {
  const queues = (await state.names("rabbitmq:index/queue:Queue", vhost)) ?? new Set();
  const exchanges = (await state.names("rabbitmq:index/exchange:Exchange", vhost)) ?? new Set();
  if (queues.size + exchanges.size === 0) return [];
  if (
    ![...queues].some((name) => found.queues.has(name)) &&
    ![...exchanges].some((name) => found.exchanges.has(name))
  ) {
    return [
      `broker.managementUrl: ${shownAddress(managementUrl)} has none of the ${queues.size} queues and ${exchanges.size} exchanges that ` +
        `this stack's state has in vhost ${vhost}. Without --refresh, an update takes them as there and declares none of them. If it is ` +
        `another broker than before, take a stack of its own for it (pulumi stack init)`,
    ];
  }
  const lost = [
    ...entities.queues
      .filter(({ name }) => queues.has(name) && !found.queues.has(name))
      .map(({ name }) => `queue ${name}`),
    ...entities.exchanges
      .filter(({ name }) => exchanges.has(name) && !found.exchanges.has(name))
      .map(({ name }) => `exchange ${name}`),
  ];
  const [first, ...others] = lost;
  if (first === undefined) return [];
  const names = others.length === 0 ? `${first} is` : `${first} and ${others.length} more are`;
  return [
    `${names} in this stack's state, and not in vhost ${vhost} of the broker: messages for ${others.length === 0 ? "it" : "them"} find no way. ` +
      "Without --refresh, an update takes what is in the state as there and declares none of it; run pulumi up --refresh",
  ];
}
