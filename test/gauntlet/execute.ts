import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Broker } from "./broker";
import { inject } from "./faults";
import { onChannel } from "./faults/amqp";
import { filesPrefix } from "./filesPrefix";
import { History, HistoryEvent, eventsOf, nowMs } from "./history";
import { excuseOf, missing } from "./invariants/arrival";
import { throughAt } from "./invariants/clocks";
import { leftBehind } from "./leftovers";
import type { Plan } from "./plan/types";
import { Secrets } from "./secrets";
import type { Round, RunningPart } from "./workload/part";
import { startPart } from "./workload";

/** How a plan is run. */
export interface ExecuteOptions {
  /** How long after the last fault and the last due time everything has to be through. */
  boundMs: number;
}

/** When nothing has moved for so long and no queue holds a message, what is missing is lost. */
const STILL_MS = 9_000;
/** How long copies, and what was cancelled, have to show themselves. */
const GRACE_MS = 1200;

/** Runs a plan on a broker, and gives what happened. */
export async function execute(plan: Plan, broker: Broker, { boundMs }: ExecuteOptions): Promise<HistoryEvent[]> {
  const folder = mkdtempSync(join(tmpdir(), `${filesPrefix}round-`));
  const history = new History();
  const secrets = new Secrets(history);
  secrets.add("the broker's password", broker.password);
  const round: Round = { broker, history, folder, secrets, faults: plan.faults };
  const parts: RunningPart[] = [];
  const onUncaught = (error: unknown): void => {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    history.record({ kind: "uncaught", part: "", error: said.split("\n").slice(0, 4).join(" ") });
  };
  process.on("unhandledRejection", onUncaught);
  process.on("uncaughtException", onUncaught);
  try {
    for (const part of plan.parts) {
      const vhost = `gauntlet-${plan.seed}-${part.name}`;
      await broker.addVhost(vhost);
      parts.push(await startPart(round, part, vhost));
    }
    await started(parts);
    await broker.settle(parts.map(({ vhost }) => vhost));
    await work(round, plan, parts);
    await untilThrough(round, plan, parts, boundMs);
    for (const part of parts) await stop(part);
    await leftBehind(round, parts);
    for (const { vhost } of parts) await broker.removeVhost(vhost);
    return history.sorted();
  } finally {
    // Again, where something went wrong on the way.
    for (const part of parts) await stop(part).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
    process.off("unhandledRejection", onUncaught);
    process.off("uncaughtException", onUncaught);
  }
}

async function started(parts: RunningPart[]): Promise<void> {
  const children = parts.flatMap(({ consumers }) => consumers);
  const timer = setInterval(() => children.forEach((child) => child.poll()), 50);
  try {
    await Promise.all(children.map((child) => child.start()));
    await Promise.all(parts.flatMap(({ channels }) => channels.map(({ ready }) => ready)));
  } finally {
    clearInterval(timer);
  }
}

/** Does all that the plan says, each at its time; resolves when the last of it is over. */
async function work(round: Round, plan: Plan, parts: RunningPart[]): Promise<void> {
  const jobs: { atMs: number; run: () => Promise<void> }[] = plan.faults.map((fault) => ({
    atMs: fault.atMs,
    run: () => inject(round, parts, fault),
  }));
  plan.parts.forEach((part, index) => {
    const running = parts[index] as RunningPart;
    jobs.push(...(running.others ?? []));
    if (part.mechanism === "command" || running.consumers.some(({ isRefused }) => isRefused)) return;
    for (const message of part.messages) jobs.push({ atMs: message.atMs, run: () => running.publish(message) });
    if (part.mechanism !== "store") return;
    for (const request of part.requests) {
      jobs.push({ atMs: request.atMs, run: () => running.request?.(request) ?? Promise.resolve() });
    }
  });
  const start = nowMs();
  const running: Promise<void>[] = [];
  for (const job of jobs.sort((a, b) => a.atMs - b.atMs)) {
    const waitMs = start + job.atMs - nowMs();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.push(job.run());
  }
  await Promise.all(running);
}

/** Waits until everything has arrived that shall, or the bound is over, or nothing moves and nothing is held. */
async function untilThrough(round: Round, plan: Plan, parts: RunningPart[], boundMs: number): Promise<void> {
  const { history } = round;
  const poll = (): void => parts.forEach(({ consumers }) => consumers.forEach((child) => child.poll()));
  const open = (): number =>
    missing(plan, history.events).filter((lifetime) => excuseOf(lifetime) === undefined).length;
  const begin = nowMs();
  let [seen, stillSince] = [0, begin];
  let remaining: Record<string, number> = {};
  const isOver = async (): Promise<boolean> => {
    poll();
    if (history.events.length !== seen) [seen, stillSince] = [history.events.length, nowMs()];
    const isStill = nowMs() - stillSince > STILL_MS + latestThrough(history, stillSince);
    if (open() > 0 && !isStill) return false;
    remaining = await remainingIn(round, parts, open() > 0);
    return Object.keys(remaining).length === 0;
  };
  while (!(await isOver()) && nowMs() - begin < boundMs + latestThrough(history, begin)) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const graceMs = Math.max(0, latestDue(history, nowMs())) + GRACE_MS;
  await new Promise((resolve) => setTimeout(resolve, graceMs));
  poll();
  const isThrough = open() === 0;
  remaining = await remainingIn(round, parts, !isThrough);
  history.record({ kind: "ended", part: "", isThrough, remaining });
}

/** How long from a time on until the last message is due. */
function latestDue({ events }: History, sinceMs: number): number {
  const dues = events.map((event) => {
    if (event.kind === "published") return event.at + event.delayMs;
    return event.kind === "rescheduled" ? event.since + event.delayMs : 0;
  });
  return Math.max(0, ...dues.map((due) => due - sinceMs));
}

/** The same, where clocks that jumped have made messages late. */
function latestThrough(history: History, sinceMs: number): number {
  const late = eventsOf(history.events, "fault").map((fault) => throughAt(fault) - sinceMs);
  return Math.max(latestDue(history, sinceMs), ...late);
}

/**
 * Messages that queues still hold, by queue; a part whose queues can't be asked holds what nobody knows.
 * @param withHidden also those that wait for a confirm on their way, which the broker tells of some seconds later
 */
export async function remainingIn(
  round: Round,
  parts: Pick<RunningPart, "name" | "vhost">[],
  withHidden: boolean,
): Promise<Record<string, number>> {
  const remaining: Record<string, number> = {};
  for (const part of parts) {
    try {
      Object.assign(remaining, await remainingOf(round, part, withHidden));
    } catch (error) {
      remaining[`${part.name}: queues that can't be asked (${(error as Error).message.split("\n")[0]})`] = 1;
    }
  }
  return remaining;
}

async function remainingOf(
  round: Round,
  part: Pick<RunningPart, "name" | "vhost">,
  withHidden: boolean,
): Promise<Record<string, number>> {
  const path = `queues/${part.vhost}?columns=name,messages,messages_ready`;
  const counts: Record<string, number> = {};
  let left = await round.broker.api.call<{ name: string; messages?: number }[]>("GET", path);
  while (left.length > 0) {
    left = await onChannel(round, part, async (channel) => {
      for (const [index, { name, messages = 0 }] of left.entries()) {
        try {
          const { messageCount } = await channel.checkQueue(name);
          const count = withHidden ? Math.max(messages, messageCount) : messageCount;
          if (count > 0) counts[`${part.name}: ${name}`] = count;
        } catch (error) {
          // A hold queue whose lease was over meanwhile; the broker closes the channel that asks for it.
          if ((error as { code?: unknown }).code !== 404) throw error;
          return left.slice(index + 1);
        }
      }
      return [];
    });
  }
  return counts;
}

async function stop({ consumers, dispatchers, channels, stop: stopOthers }: RunningPart): Promise<void> {
  await Promise.all([...consumers, ...dispatchers, ...channels].map((one) => one.stop()));
  await stopOthers?.();
}
