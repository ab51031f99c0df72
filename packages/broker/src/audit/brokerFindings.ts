import { BindingPlan, DelayNetwork, levelQueueName } from "@rabbitmq-delay/topology";
import { AuditFinding, FoundPolicy, bindingName, canEnforce, networkOfDelivery } from "@rabbitmq-delay/topology/stack";

/** A queue as the management API shows it; properties that the answer lacks are undefined. */
export interface QueueOnBroker {
  name: string;
  arguments: Record<string, unknown>;
  type?: string;
  messages?: number;
  /** Messages whose time is up and that no queue has accepted yet. */
  messages_dlx?: number;
  consumers?: number;
  effective_policy_definition?: Record<string, unknown>;
}

/** The content of a vhost, as far as an audit reads it. */
export interface VhostOnBroker {
  queues: QueueOnBroker[];
  exchanges: { name: string; type?: string; arguments?: Record<string, unknown> }[];
  policies?: FoundPolicy[];
  /** All bindings of the vhost, except those of the default exchange. */
  bindings: BindingPlan[];
}

/**
 * The networks in a vhost, found by the names of the exchanges that endpoints are bound to. Whether matching is enforced is decided by
 * where level 0 leads: the exchange for it may be there before, or still be there after.
 */
export function networksOn({ exchanges, queues }: Pick<VhostOnBroker, "exchanges" | "queues">): DelayNetwork[] {
  const targets = new Map(queues.map(({ name, arguments: values }) => [name, values["x-dead-letter-exchange"]]));
  const isEnforced = (network: DelayNetwork): boolean =>
    targets.get(levelQueueName(network, 0, 1)) === bindingName({ ...network, matching: "enforced" });
  return exchanges
    .map(({ name }) => networkOfDelivery(name))
    .filter((network) => network !== undefined)
    .filter((network) => !canEnforce(network.preset) || isEnforced(network) === (network.matching === "enforced"));
}

/**
 * Whether the broker's statistics are switched off: it only counts, and tells neither of consumers nor of messages past their time. Of a single
 * queue, any broker may say as little for a moment.
 */
export function areStatisticsOff({ queues }: { queues: Pick<QueueOnBroker, "messages" | "consumers">[] }): boolean {
  const counted = queues.filter(({ messages }) => messages !== undefined);
  return counted.length > 0 && counted.every(({ consumers }) => consumers === undefined);
}

/** Finds queues whose messages the broker does not count, or of which it says no more: nobody knows what is in them. */
export function auditUncounted(found: Pick<VhostOnBroker, "queues">): AuditFinding[] {
  const isOff = areStatisticsOff(found);
  const uncounted = found.queues.filter(({ messages, consumers }) => messages === undefined || consumers === undefined);
  const [first, ...others] = uncounted;
  if (first === undefined) return [];
  const more = others.length === 0 ? "is" : `and ${others.length} more are`;
  const message = isOff
    ? `${more} only counted, because the broker's statistics are switched off (management.disable_stats): it says neither what consumes a ` +
      "queue nor what is past its time, so that nothing is known of either; switch them on for this check"
    : `${more} not counted by the broker, so that nothing is known of the messages in it; it may have no leader, or the broker's statistics may ` +
      "be switched off";
  return [{ rule: "uncounted", severity: "error", subject: `queue ${first.name}`, message }];
}

/** The networks in a vhost without some of one's own. */
export function otherNetworks(
  own: readonly DelayNetwork[],
  found: Pick<VhostOnBroker, "exchanges" | "queues">,
): DelayNetwork[] {
  const names = new Set(own.map(({ deliveryExchange }) => deliveryExchange));
  return networksOn(found).filter(({ deliveryExchange }) => !names.has(deliveryExchange));
}

/** Finds messages that nobody will get, and networks that no config and no claim names. */
export function auditLeftovers(
  found: VhostOnBroker,
  own: readonly DelayNetwork[],
  errorQueues: readonly string[],
  parkingOfExchanges: readonly string[] = [],
): AuditFinding[] {
  const networks = [...own, ...networksOn(found)];
  const parking = new Set(networks.map(({ parkingQueue }) => parkingQueue).filter((name) => name !== undefined));
  const errors = new Set(errorQueues);
  const findings: AuditFinding[] = [];
  for (const { name, messages = 0, consumers = 0 } of found.queues) {
    if (messages === 0 || consumers > 0) continue;
    const subject = `queue ${name}`;
    const holds = `holds ${messages} ${messages === 1 ? "message" : "messages"}`;
    if (parking.has(name)) {
      const message = `${holds} that no endpoint of the network took when their delay was over; bind the endpoint, and move them to it`;
      findings.push({ rule: "parked", severity: "warning", subject, message });
    } else if (parkingOfExchanges.includes(name)) {
      const message = `${holds} that nobody was bound for, or that had no declared delay; bind the queue or declare the delay, and move them`;
      findings.push({ rule: "parked", severity: "warning", subject, message });
    } else if (errors.has(name) || ERROR_QUEUE.test(name)) {
      const message = `${holds} that used up their tries or could not be read, and nothing consumes it; look at them, and move them back or drop them`;
      findings.push({ rule: "failed-messages", severity: "warning", subject, message });
    }
  }
  return [...findings, ...unknownNetworks(found, own)];
}

/** Names that vendors and this project give to queues of failed messages. */
const ERROR_QUEUE = /(^|[._-])(errors?|failed|dead|dlq|poison|skipped)$/i;

function unknownNetworks(found: VhostOnBroker, own: readonly DelayNetwork[]): AuditFinding[] {
  const named = new Set(own.map(({ deliveryExchange }) => deliveryExchange));
  const claimed = new Set(claimedEndpoints(found));
  return networksOn(found)
    .filter(({ deliveryExchange }) => !named.has(deliveryExchange))
    .filter(({ bindingExchange }) =>
      found.bindings.every(({ source, destination }) => source !== bindingExchange || !claimed.has(destination)),
    )
    .map(({ prefix, deliveryExchange }) => {
      const waiting = found.queues
        .filter(
          ({ name }) =>
            name.startsWith(`${prefix}-level-`) || name.startsWith(`${prefix}.level-`) || isCelery(prefix, name),
        )
        .reduce((sum, { messages = 0 }) => sum + messages, 0);
      const message =
        `is on the broker, and neither this config nor a service's claim names it; ${waiting} ${waiting === 1 ? "message waits" : "messages wait"} in it; ` +
        "check the stack that declares it, or remove it once it is empty";
      return { rule: "unknown-network", severity: "warning", subject: `network of ${deliveryExchange}`, message };
    });
}

/** Names of the endpoints that services claim in a vhost. */
export function claimedEndpoints({ exchanges }: Pick<VhostOnBroker, "exchanges">): string[] {
  return exchanges.flatMap(({ name }) => (name.startsWith(CLAIM) ? [name.slice(CLAIM.length)] : []));
}

function isCelery(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}_`) && /^\d+$/.test(name.slice(prefix.length + 1));
}

/** The start of the name of the exchange with which a service claims its endpoint; see `planOwnership`. */
const CLAIM = "rabbitmq-delay.owner-of-endpoint.";
