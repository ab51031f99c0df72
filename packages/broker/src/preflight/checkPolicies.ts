import { EntityPlan, PolicyPlan } from "@rabbitmq-delay/topology";
import { FoundPolicy, PolicyFinding, judgePolicies } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";

/** A policy as the management API shows it. */
export interface PolicyAnswer {
  name: string;
  pattern: string;
  "apply-to": string;
  priority: number;
  definition: Record<string, unknown>;
}

/** How many findings an error names. */
const MOST_NAMED = 3;

/** The entities for which policies are checked. */
export interface PolicyTarget {
  entities: Pick<EntityPlan, "exchanges" | "queues">;
  policies: PolicyPlan[];
  /** The queues among them that a service consumes, which may need a policy of their own. */
  endpointQueues: string[];
  /** The queues among them that hold what services failed at. */
  errorQueues?: string[];
}

/**
 * Checks other people's policies that match what is going to be declared.
 * @returns warnings, one line each
 * @throws BrokerCheckError for policies that would lose, delay or misdirect messages, or displace a policy of ours, unless the update
 * changes nothing about that
 */
export function checkPolicies(
  { entities, ...target }: PolicyTarget,
  found: { policies: PolicyAnswer[]; operatorPolicies: PolicyAnswer[] },
): string[] {
  const findings = judgePolicies({ ...entities, ...target }, [
    ...found.policies.map((policy) => toFound(policy, false)),
    ...found.operatorPolicies.map((policy) => toFound(policy, true)),
  ]);
  const isRefused = ({ severity, isPresent }: PolicyFinding): boolean => severity === "error" && isPresent !== true;
  const errors = findings.filter(isRefused).map(({ message }) => message);
  if (errors.length > 0) {
    const more = errors.length > MOST_NAMED ? `; and ${errors.length - MOST_NAMED} more` : "";
    throw new BrokerCheckError(errors.slice(0, MOST_NAMED).join("; ") + more);
  }
  return findings.map(({ message }) => message);
}

function toFound(policy: PolicyAnswer, isOperator: boolean): FoundPolicy {
  const { name, pattern, priority, definition } = policy;
  return { name, pattern, applyTo: policy["apply-to"], priority, definition, isOperator };
}
