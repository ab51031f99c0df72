import type { OwnershipPlan } from "@rabbitmq-delay/topology/stack";
import type { StackState } from "./stackState";
import { BrokerCheckError } from "../brokerCheckError";

/** An exchange, as far as it says who owns a name. */
export interface FoundClaim {
  name: string;
  arguments: Record<string, unknown>;
}

/**
 * How a stack gives up a component without touching the broker. If it were only taken out of the program, it would be unbound, and under
 * `removal: delete` deleted.
 */
export const FORGET = "pulumi state delete --target-dependents 'URN' (pulumi stack --show-urns names it)";

/**
 * Checks whether a name that is going to be claimed belongs to somebody else. If two stacks claim it at the same moment, the broker itself
 * refuses one.
 * @param formerOwners former names of the owner; the engine then replaces the claim if it is in this stack's state
 * @throws BrokerCheckError with the name, its owner, who wanted it, and the safe ways out
 */
export async function checkClaims(
  state: StackState,
  vhost: string,
  claims: readonly OwnershipPlan[],
  exchanges: readonly FoundClaim[],
  formerOwners: readonly string[] = [],
): Promise<void> {
  const found = new Map(exchanges.map((exchange) => [exchange.name, exchange]));
  for (const claim of claims) {
    const other = found.get(claim.name);
    const owner = claim.arguments["alternate-exchange"];
    const has = other?.arguments["alternate-exchange"];
    if (other === undefined || has === owner) continue;
    const [, kind, name] = /owner-of-([a-z]+)\.(.*)$/s.exec(claim.name) as unknown as [string, string, string];
    if (formerOwners.includes(String(has))) {
      if ((await state.names("rabbitmq:index/exchange:Exchange", vhost))?.has(claim.name) !== false) continue;
      throw new BrokerCheckError(
        `${kind}: ${JSON.stringify(name)} belongs to ${String(has)}, one of formerOwners, but its claim is not in this stack's ` +
          `state, so that the broker would refuse ${owner} half-way; nothing was made. formerOwners is for a stack that was renamed ` +
          `(pulumi stack rename keeps its state). A stack made anew takes the name once nothing has it: take it out of ` +
          `${String(has)} under removal: retain, or, where that is gone, delete exchange ${claim.name} and set adopt: true for an update`,
      );
    }
    throw new BrokerCheckError(
      `${kind}: ${JSON.stringify(name)} belongs to ${String(has)}, and ${owner} wants it too; ` +
        `nothing was made. Choose another name here. If ${String(has)} is what this stack, by pulumi stack rename, or its owner was called before, add it ` +
        `to formerOwners. If this stack made it too, let it forget that before it leaves the program, ` +
        `by ${FORGET}: what only leaves the program is unbound or deleted for ${String(has)} as well. To move it here, take it ` +
        `out of ${String(has)} first, under removal: retain (exchange ${claim.name} says whose it is)`,
    );
  }
}

/**
 * Finds claims that are in the stack's state, but not on the broker: somebody deleted them, or another component of this stack had the same
 * claim and was removed. The names still belong to this stack; the engine believes that the claims exist.
 */
export async function lostClaims(
  state: StackState,
  managementUrl: string,
  vhost: string,
  claims: readonly OwnershipPlan[],
  exchanges: { has(name: string): boolean },
): Promise<OwnershipPlan[]> {
  const missing = claims.filter(({ name }) => !exchanges.has(name));
  if (missing.length === 0 || !(await state.isOf(managementUrl))) return [];
  const own = await state.names("rabbitmq:index/exchange:Exchange", vhost);
  return missing.filter(({ name }) => own?.has(name));
}

/** The warning about lost claims, one line for all of them. */
export function warnOfLost([first, ...others]: readonly OwnershipPlan[]): string[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? "is" : `and ${others.length} more are`;
  return [
    `exchange ${first.name} ${more} in this stack's state, and not on the broker: another stack could take the name. pulumi up --refresh ` +
      `declares it again`,
  ];
}
