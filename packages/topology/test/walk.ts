import type { BindingPlan, EntityPlan } from "@rabbitmq-delay/topology";

/** Where a walked message ended: in which queues, and after how long. */
export interface WalkEnd {
  queue: string;
  waitedMs: number;
  hops: number;
}

/**
 * Walks a message through planned entities by the broker's rules: topic routing, TTL, dead-lettering. Written apart from the
 * code under test: patterns become regular expressions here.
 */
export function walk(plan: EntityPlan, endpoints: BindingPlan[], exchange: string, routingKey: string): WalkEnd[] {
  const ends: WalkEnd[] = [];
  const queues = new Map(plan.queues.map((queue) => [queue.name, queue]));
  const visit = (source: string, waitedMs: number, hops: number): void => {
    const targets = new Map<string, BindingPlan>();
    for (const binding of [...plan.bindings, ...endpoints]) {
      if (binding.source !== source || !regexOf(binding.routingKey).test(routingKey)) continue;
      targets.set(`${binding.destinationType} ${binding.destination}`, binding);
    }
    for (const { destination, destinationType } of targets.values()) {
      const next = queues.get(destination)?.arguments["x-dead-letter-exchange"];
      if (destinationType === "exchange") visit(destination, waitedMs, hops);
      else if (next === undefined) ends.push({ queue: destination, waitedMs, hops });
      else visit(String(next), waitedMs + Number(queues.get(destination)?.arguments["x-message-ttl"]), hops + 1);
    }
  };
  visit(exchange, 0, 0);
  return ends;
}

/** A topic pattern as a regular expression over words that each carry a leading dot. */
export function regexOf(pattern: string): { test: (routingKey: string) => boolean } {
  const parts = (pattern === "" ? [] : pattern.split(".")).map((word) => {
    if (word === "#") return "(?:\\.[^.]*)*";
    if (word === "*") return "\\.[^.]*";
    return `\\.${word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}`;
  });
  const regex = new RegExp(`^${parts.join("")}$`, "u");
  return { test: (routingKey) => regex.test(routingKey === "" ? "" : `.${routingKey}`) };
}
