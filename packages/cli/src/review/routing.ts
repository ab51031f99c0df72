import { networkOfDelivery } from "rabbitmq-delay-topology";
import { EntityChange, queueArguments } from "./entityChange";

/** What becomes of messages that an exchange can't route. */
export type Unroutable = "parked" | "held" | "lost" | "unknown";

/** What a preview tells about the broker as it is before the update. */
export class Routing {
  private readonly feeders = new Map<string, EntityChange[]>();
  private readonly policies: EntityChange[];
  private readonly deleted: Set<string>;

  /**
   * @param changes of all resources that the preview lists
   * @param isWhole whether it lists the unchanged ones too
   */
  constructor(
    changes: EntityChange[],
    private readonly isWhole: boolean,
  ) {
    for (const change of changes) {
      const exchange = change.kind === "queue" ? queueArguments(change.before)["x-dead-letter-exchange"] : undefined;
      if (typeof exchange !== "string") continue;
      const key = keyOf(change.before?.vhost, exchange);
      const same = this.feeders.get(key);
      if (same === undefined) this.feeders.set(key, [change]);
      else same.push(change);
    }
    this.policies = changes.filter(({ kind }) => kind === "policy");
    const deleted = changes.filter(({ action, isRetained }) => action === "delete" && !isRetained);
    this.deleted = new Set(deleted.map(({ kind, before }) => JSON.stringify([kind, before?.vhost, before?.name])));
  }

  /** What becomes of a message that `exchange` has no binding for, once the update has begun. */
  unroutable(vhost: unknown, exchange: string, dependencies: string[]): Unroutable {
    const parking = this.parking(vhost, exchange, dependencies);
    if (parking === "yes") return "parked";
    if (this.losesFrom(vhost, exchange)) return "lost";
    if (this.feeders.has(keyOf(vhost, exchange))) return "held";
    return parking === "no" && this.isWhole ? "lost" : "unknown";
  }

  /** Whether a queue that stays dead-letters to `exchange` without waiting for its confirm. */
  losesFrom(vhost: unknown, exchange: string): boolean {
    const feeders = this.feeders.get(keyOf(vhost, exchange)) ?? [];
    return feeders.some(
      (queue) =>
        queueArguments(queue.before)["x-dead-letter-strategy"] !== "at-least-once" &&
        (queue.action !== "delete" || queue.isRetained),
    );
  }

  private parking(vhost: unknown, exchange: string, dependencies: string[]): "yes" | "no" | "unknown" {
    const own = this.policies.filter(({ before, after }) => parks(before ?? after, vhost, exchange));
    if (own.length > 0) return own.some(({ action, isRetained }) => action !== "delete" || isRetained) ? "yes" : "no";
    const parking = networkOfDelivery(exchange)?.parkingExchange;
    if (parking !== undefined && dependencies.some((urn) => urn.endsWith(`-${parking}`))) return "yes";
    return this.isWhole ? "no" : "unknown";
  }

  /** Whether an entity of that name goes, and the broker does not keep it. */
  isDeleted(kind: EntityChange["kind"], vhost: unknown, name: unknown): boolean {
    return this.deleted.has(JSON.stringify([kind, vhost, name]));
  }
}

function keyOf(vhost: unknown, exchange: string): string {
  return JSON.stringify([vhost, exchange]);
}

function parks(values: Record<string, unknown> | undefined, vhost: unknown, exchange: string): boolean {
  const policy = values?.policy as { pattern?: unknown; definition?: Record<string, unknown> } | undefined;
  if (values?.vhost !== vhost || policy?.definition?.["alternate-exchange"] === undefined) return false;
  try {
    return new RegExp(String(policy.pattern)).test(exchange);
  } catch {
    return false;
  }
}
