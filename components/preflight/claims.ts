import type { OwnershipPlan } from "rabbitmq-delay-topology";
import { BrokerCheckError } from "./brokerCheckError";

/** An exchange, as far as it says who owns a name. */
export interface FoundClaim {
  name: string;
  arguments: Record<string, unknown>;
}

/**
 * How a stack gives a component up without touching the broker: what is taken out of its program alone would be unbound, and
 * under `removal: delete` deleted.
 */
export const FORGET = "pulumi state delete --target-dependents 'URN' (pulumi stack --show-urns names it)";

/**
 * Looks whether a name that is going to be claimed belongs to somebody else. Two that claim it at the same moment are still
 * told apart by the broker itself.
 * @param formerOwners what the owner was called before; the engine then replaces the claim
 * @throws BrokerCheckError with the name, its owner, who wanted it, and the safe ways out
 */
export function checkClaims(
  claims: readonly OwnershipPlan[],
  exchanges: readonly FoundClaim[],
  formerOwners: readonly string[] = [],
): void {
  const found = new Map(exchanges.map((exchange) => [exchange.name, exchange]));
  for (const claim of claims) {
    const other = found.get(claim.name);
    const owner = claim.arguments["alternate-exchange"];
    const has = other?.arguments["alternate-exchange"];
    if (other === undefined || has === owner || formerOwners.includes(String(has))) continue;
    const [, kind, name] = /owner-of-([a-z]+)\.(.*)$/s.exec(claim.name) as unknown as [string, string, string];
    throw new BrokerCheckError(
      `${kind}: ${JSON.stringify(name)} belongs to ${String(has)}, and ${owner} wants it too; ` +
        `nothing was made. Choose another name here. If ${String(has)} is what this stack or its owner was called before, add it ` +
        `to formerOwners. If this stack made it too, let it forget that before it leaves the program, ` +
        `by ${FORGET}: what only leaves the program is unbound or deleted for ${String(has)} as well. To move it here, take it ` +
        `out of ${String(has)} first, under removal: retain (exchange ${claim.name} says whose it is)`,
    );
  }
}
