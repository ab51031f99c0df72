import { DelayTopologyError, EndpointPlan, QueuePlan } from "@rabbitmq-delay/topology";
import { BoundPatterns, OwnershipPlan } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";

/** What one component declares. */
interface Brought {
  /** The component's class. */
  component?: string;
  queues?: readonly Pick<QueuePlan, "name">[];
  /** The messages that an endpoint takes from a network that the program does not make. */
  endpoint?: EndpointPlan;
  allow?: readonly string[];
  users?: readonly string[];
  claims?: readonly OwnershipPlan[];
}

/** What earlier components of this program declare on one broker. */
interface Known {
  /** By vhost and exchange. */
  bound: Map<string, BoundPatterns>;
  users: Set<string>;
  /** By vhost and name. */
  claims: Set<string>;
  /** The classes of the components that declare a queue, by vhost and name. */
  queues: Map<string, string[]>;
}

const known = new WeakMap<object, Known>();

/**
 * Compares the components of one program. The broker and the claims can't tell them apart, because they have one owner: a message would go
 * to two endpoints, and things that two of them share would be deleted for both once the first leaves the program.
 * @param run what they share in this run of the program: the provider by which they declare, or the stack
 * @returns warnings, one line each: an endpoint of two networks is intended, and has a single claim
 * @throws BrokerCheckError naming both endpoints, or the user
 */
export function compareInProgram(
  run: object,
  vhost: string,
  { component, queues = [], endpoint, allow, users = [], claims = [] }: Brought,
): string[] {
  const there = known.get(run) ?? newProgram();
  known.set(run, there);
  if (component !== undefined) queues.forEach(({ name }) => compareQueues(there, vhost, name, component));
  if (endpoint !== undefined) compareEndpoint(there, vhost, endpoint, allow);
  for (const user of users) {
    if (there.users.has(user)) {
      throw new BrokerCheckError(
        `user: ${JSON.stringify(user)} is made by two components of this program; nothing was made. Each would take the other's password ` +
          `and rights away, and the user would go with the first that leaves. Give one of them another name`,
      );
    }
    there.users.add(user);
  }
  return claims.flatMap(({ name }) => {
    const claim = JSON.stringify([vhost, name]);
    const isTwice = there.claims.has(claim);
    there.claims.add(claim);
    return isTwice ? [warnOfTwo(name)] : [];
  });
}

function newProgram(): Known {
  return { bound: new Map(), users: new Set(), claims: new Set(), queues: new Map() };
}

/** A queue that all services share would go with the first of its components, though the other one still has it. */
function compareQueues({ queues }: Known, vhost: string, name: string, component: string): void {
  const key = JSON.stringify([vhost, name]);
  const others = queues.get(key) ?? [];
  queues.set(key, [...others, component]);
  const [other] = others;
  if (other === undefined || ![component, ...others].includes("ErrorQueues")) return;
  throw new BrokerCheckError(
    `queue: ${JSON.stringify(name)} is declared by two components of this program, ${other} and ${component}; nothing was made. It would ` +
      `go with the first that leaves. Name it in one ErrorQueues, and in no errorQueue of an endpoint`,
  );
}

function compareEndpoint(
  there: Known,
  vhost: string,
  { bindings, bound }: EndpointPlan,
  allow: readonly string[] | undefined,
): void {
  const key = JSON.stringify([vhost, bindings[0]?.source]);
  const patterns = there.bound.get(key) ?? new BoundPatterns();
  there.bound.set(key, patterns);
  try {
    patterns.add(bound, allow);
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    throw new BrokerCheckError(`${error.message}; nothing was made`);
  }
}

function warnOfTwo(claim: string): string {
  return (
    `exchange ${claim} is declared by two components of this program, as an endpoint of two networks is: when one of them leaves the ` +
    `program, it goes with that. Run pulumi up --refresh then, which declares it again`
  );
}
