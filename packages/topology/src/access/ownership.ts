import { DelayTopologyError } from "../errors";
import { brokerLimits, checkShortString } from "../names";

/** An exchange that nothing is published to: it says who owns a name, so that the broker refuses a second owner. */
export interface OwnershipPlan {
  name: string;
  type: "fanout";
  durable: true;
  /** Of an exchange's arguments, the broker compares the alternate exchange alone when it is declared again. */
  arguments: { "alternate-exchange": string };
}

/** What of a service has a name that others could take. */
export type OwnedKind = "endpoint" | "user";

/**
 * Plans how a name is claimed. The broker takes the declaration again from the same owner, and refuses it from another one, in
 * one step: `PRECONDITION_FAILED`, with both owners.
 * @param owner whose it is, e.g. `billing/prod`
 * @param property what an error calls the name
 * @throws DelayTopologyError for an owner or a name that is empty or too long
 */
export function planOwnership(kind: OwnedKind, name: string, owner: string, property?: string): OwnershipPlan {
  checkOwner("owner", owner);
  checkOwnedName(kind, name, property);
  return {
    name: `${claimStart(kind)}${name}`,
    type: "fanout",
    durable: true,
    arguments: { "alternate-exchange": owner },
  };
}

/** Checks an owner. @throws DelayTopologyError for one that says nothing, or is too long to be noted on the broker */
export function checkOwner(property: string, owner: unknown): void {
  if (typeof owner !== "string" || owner === "")
    throw new DelayTopologyError(property, owner, "it must say whose the names are, e.g. billing/prod");
  checkShortString(property, owner);
}

/**
 * The claim has to fit, too: what is said is the room that is left for the name that the user gave.
 * @param property what the error calls the name
 * @throws DelayTopologyError for a name that is too long to be claimed
 */
export function checkOwnedName(
  kind: OwnedKind,
  name: string,
  property: string = kind === "endpoint" ? "endpoint.name" : kind,
): void {
  checkShortString(property, name, maximumOwnedBytes(kind));
}

/** Room for a name that is claimed, in bytes of UTF-8. */
export function maximumOwnedBytes(kind: OwnedKind): number {
  return brokerLimits.shortStringBytes - claimStart(kind).length;
}

function claimStart(kind: OwnedKind): string {
  return `rabbitmq-delay.owner-of-${kind}.`;
}

/** Plans how all names of an endpoint are claimed. @throws as {@link planOwnership} does */
export function planEndpointOwnership(endpoint: NamedEndpoint, owner: string): OwnershipPlan[] {
  return ownedNames(endpoint).map((name) =>
    planOwnership("endpoint", name, owner, `endpoint.${propertyOf(endpoint, name)}`),
  );
}

/** The property of an endpoint that holds one of its names. */
export function propertyOf(endpoint: NamedEndpoint, name: string): string {
  const pattern = endpoint.patterns?.indexOf(name) ?? -1;
  return name === endpoint.name || pattern < 0 ? "name" : `patterns[${pattern}]`;
}

interface NamedEndpoint {
  name: string;
  patterns?: string[];
}

/** Names of an endpoint that its service owns: its own, and what it takes by patterns without wildcards. */
export function ownedNames(endpoint: NamedEndpoint): string[] {
  const exact = (endpoint.patterns ?? []).filter((pattern) => !pattern.split(".").includes("*"));
  return [...new Set([endpoint.name, ...exact])];
}
