import type { VhostContent } from "@rabbitmq-delay/broker";
import type { BindingPlan } from "@rabbitmq-delay/topology";
import { bindingIdentity } from "@rabbitmq-delay/topology/stack";

/** What a vhost has, as far as an adoption looks at it. */
export type LiveContent = Pick<
  VhostContent,
  "version" | "exchanges" | "queues" | "bindings" | "policies" | "defaultQueueType"
>;

/** The same by names and by exchanges. */
export class LiveVhost {
  readonly exchanges: ReadonlyMap<string, LiveContent["exchanges"][number]>;
  readonly queues: ReadonlyMap<string, LiveContent["queues"][number]>;
  private readonly bySource = new Map<string, BindingPlan[]>();
  private readonly bound: ReadonlySet<string>;

  constructor(readonly content: LiveContent) {
    this.exchanges = new Map(content.exchanges.map((exchange) => [exchange.name, exchange]));
    this.queues = new Map(content.queues.map((queue) => [queue.name, queue]));
    this.bound = new Set(content.bindings.map(bindingIdentity));
    for (const binding of content.bindings) {
      const list = this.bySource.get(binding.source);
      if (list === undefined) this.bySource.set(binding.source, [binding]);
      else list.push(binding);
    }
  }

  /** What an exchange leads to. */
  from(source: string): readonly BindingPlan[] {
    return this.bySource.get(source) ?? [];
  }

  has(binding: BindingPlan): boolean {
    return this.bound.has(bindingIdentity(binding));
  }

  /** The exchange to which a queue dead-letters. */
  targetOf(queue: string): unknown {
    return this.queues.get(queue)?.arguments["x-dead-letter-exchange"];
  }

  /** Names of the queues by what stands before a number in them, where they lead to the exchange that `target` says. */
  numbered(pattern: RegExp, target: (start: string) => string): Map<string, number[]> {
    const found = new Map<string, number[]>();
    for (const { name } of this.content.queues) {
      const [, start, digits] = pattern.exec(name) ?? [];
      if (start === undefined || this.targetOf(name) !== target(start) || String(Number(digits)) !== digits) continue;
      found.set(
        start,
        [...(found.get(start) ?? []), Number(digits)].sort((a, b) => a - b),
      );
    }
    return found;
  }
}
