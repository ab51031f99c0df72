import { DelayNetwork, describeDelay, digitName, levelQueueName } from "@rabbitmq-delay/topology";
import { AuditFinding, isAtLeast } from "@rabbitmq-delay/topology/stack";
import { QueueOnBroker, VhostOnBroker, networksOn } from "./brokerFindings";

/** How many messages the broker tries to pass on at once; behind them, all others of the queue wait. */
const WINDOW = 32;

/**
 * Finds queues that keep messages whose time is up. A broker counts those separately from the others (`messages_dlx`), because they have
 * left the queue's line and wait for the next queue to accept them. Measured on RabbitMQ 3.10.8 and 4.3.6.
 * @param looks the vhost's queues, seen some seconds apart; messages that each look counts are stalled
 * @param version the broker's
 */
export function auditStalled(found: VhostOnBroker, looks: readonly QueueOnBroker[][], version: string): AuditFinding[] {
  const [first = [], ...others] = looks;
  const networks = networksOn(found);
  return first.flatMap((queue): AuditFinding[] => {
    const counts = [queue, ...others.map((look) => look.find(({ name }) => name === queue.name))].map(
      (seen) => seen?.messages_dlx ?? 0,
    );
    const fewest = Math.min(...counts);
    if (fewest === 0) return [];
    const ttlMs = queue.arguments["x-message-ttl"];
    const place = placeOf(networks, queue.name);
    const target = String(queue.arguments["x-dead-letter-exchange"] ?? "");
    const message =
      `keeps ${fewest} ${fewest === 1 ? "message" : "messages"} past ${typeof ttlMs === "number" ? `its TTL of ${describeDelay(ttlMs)}` : "their time"}` +
      `${place === undefined ? "" : `, of keys ${place}`}: the broker could not pass them on to exchange ${target} in ${looks.length} looks` +
      `${fewest >= WINDOW ? `, and ${WINDOW} of them stop the queue for all` : ""}; ${causeOf(found, target, version)}`;
    return [{ rule: "stalled", severity: "error", subject: `queue ${queue.name}`, message }];
  });
}

/** The binding key of a level's queue. */
function placeOf(networks: DelayNetwork[], queue: string): string | undefined {
  for (const network of networks) {
    for (let level = 0; level < network.levels; level++) {
      for (let digit = 1; digit < network.radix; digit++) {
        if (levelQueueName(network, level, digit) === queue)
          return `${"*.".repeat(network.levels - 1 - level)}${digitName(digit)}.#`;
      }
    }
  }
  return undefined;
}

function causeOf({ exchanges, bindings }: VhostOnBroker, target: string, version: string): string {
  if (target !== "" && !exchanges.some(({ name }) => name === target)) {
    return `that exchange is not there: declare it again, and they go on within some minutes`;
  }
  if (target !== "" && !bindings.some(({ source }) => source === target)) {
    return `nothing is bound to that exchange: bind its destinations, and they go on within some minutes`;
  }
  const route =
    "no binding takes their keys (bind the endpoint, or give the network parking) or the next queue refuses them";
  if (isAtLeast(version, "4.0")) return `${route}; once it takes them, they go on within some minutes`;
  return (
    `${route}; or, before RabbitMQ 4.0, they were published again with the x-death header that they came with, and are taken for a ` +
    `loop: leave that header out, and free them by an update to 4.0 or newer, or as docs/check.md says`
  );
}
