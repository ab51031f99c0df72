import { componentOf } from "@rabbitmq-delay/topology/stack";

/** The parts of a resource's URN. */
export interface UrnParts {
  stack: string;
  project: string;
  /** Types of the parents, and last the resource's own, e.g. `rabbitmq-delay:index:DelayLevelTopology`, `rabbitmq:index/queue:Queue`. */
  types: string[];
  /** The logical name, which may contain `::`. */
  name: string;
}

/** Splits `urn:pulumi:STACK::PROJECT::TYPE$TYPE::NAME`; undefined for anything else. */
export function parseUrn(urn: string): UrnParts | undefined {
  const match = /^urn:pulumi:(.*?)::(.*?)::(.*?)::(.*)$/s.exec(urn);
  if (match === null) return undefined;
  const [, stack = "", project = "", types = "", name = ""] = match;
  return { stack, project, types: types.split("$"), name };
}

/** A resource's own type, without those of its parents. */
export function typeOf(urn: string): string {
  return parseUrn(urn)?.types.at(-1) ?? "";
}

/** A resource's logical name. */
export function nameOf(urn: string): string {
  return parseUrn(urn)?.name ?? urn;
}

/** Whether a resource is the component of an endpoint; its name, which may be anything, is not considered. */
export function isEndpoint(urn: string | undefined): boolean {
  return urn !== undefined && componentOf(typeOf(urn)) === "EndpointDelayBinding";
}
