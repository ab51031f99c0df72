import { AuditFinding, describeUnlimited, isUnlimited, judgePolicies } from "@rabbitmq-delay/topology/stack";
import type { Found } from "./readVhost";

/**
 * Finds queues that ask for no delivery limit by their argument (`x-delivery-limit: -1`) and have one: on a broker before 4.0, or by a policy.
 * @param endpoints names of the stack's endpoints, whose policies are judged with the stack's
 */
export function auditUnlimited({ queues, policies, version }: Found, endpoints: readonly string[]): AuditFinding[] {
  const unlimited = queues
    .filter(isUnlimited)
    .map(({ name, arguments: values }) => ({ name, arguments: values as Record<string, number> }));
  const limited = judgePolicies(
    { exchanges: [], queues: unlimited.filter(({ name }) => !endpoints.includes(name)), policies: [] },
    policies,
  ).filter(({ key }) => key === "delivery-limit");
  return [
    ...unlimited.flatMap((queue): AuditFinding[] => {
      const message = describeUnlimited(queue, version);
      return message === undefined
        ? []
        : [{ rule: "delivery-limit", severity: "error", subject: `queue ${queue.name}`, message }];
    }),
    ...limited.map(({ policy, message }): AuditFinding => ({
      rule: "policy",
      severity: "error",
      subject: `policy ${policy}`,
      message,
    })),
  ];
}
