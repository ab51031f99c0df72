import { FakeClock } from "../fakeClock";
import type { FaultKind, PlannedFault } from "../plan/types";
import { Turns } from "../turns";
import type { Round, RunningPart } from "../workload/part";
import { closeConnections, raiseChannelError } from "./connections";
import { answerLost, databaseKilled, databasePaused, databaseStopped } from "./database";
import { clockJumps, dispatcherKilled, dispatcherPaused, dispatcherStopped } from "./dispatchers";
import { raiseAlarm } from "./alarms";
import { earlyPolicy, shortPolicy } from "./policies";
import type { Effect } from "./effect";
import { purge } from "./purge";
import { unbind } from "./unbind";

type Fault = (round: Round, part: RunningPart, planned: PlannedFault) => Promise<Effect | void>;

const ofParts: Partial<Record<FaultKind, Fault>> = {
  "consumer-killed": async (_, { consumers }) =>
    void (await Promise.all(consumers.map((one) => one.signal("SIGKILL")))),
  "consumer-stopped": async (_, { consumers }) =>
    void (await Promise.all(consumers.map((one) => one.signal("SIGTERM")))),
  "consumer-paused": async (_, { consumers }, { forMs = 1000 }) =>
    void (await Promise.all(consumers.map((one) => one.pause(forMs)))),
  "dispatcher-killed": dispatcherKilled,
  "dispatcher-stopped": dispatcherStopped,
  "dispatcher-paused": dispatcherPaused,
  "clock-jump": clockJumps,
  "database-killed": databaseKilled,
  "database-stopped": databaseStopped,
  "database-paused": databasePaused,
  "database-answer-lost": answerLost,
  "connections-closed": closeConnections,
  "channel-error": raiseChannelError,
  "early-policy": earlyPolicy,
  "short-policy": shortPolicy,
  unbound: unbind,
  purged: purge,
};

/** Makes a fault happen, and notes when it did and when all was as before. */
export async function inject(round: Round, parts: RunningPart[], planned: PlannedFault): Promise<void> {
  const { broker, history } = round;
  const part = parts.find(({ name }) => name === planned.part);
  const leftOut = (reason: string): void =>
    history.record({
      kind: "fault",
      part: planned.part ?? "",
      fault: "left-out",
      until: 0,
      subject: `${planned.kind}: ${reason}`,
    });
  if (planned.kind === "power-cut" && broker.noPowerCut !== undefined) return leftOut(broker.noPowerCut);
  const noClock = planned.kind === "clock-jump" ? await FakeClock.whyNone() : undefined;
  if (noClock !== undefined) return leftOut(noClock);
  for (let time = 0; time < (planned.times ?? 1); time++) {
    const event = {
      kind: "fault" as const,
      part: planned.part ?? "",
      fault: planned.kind,
      at: Number(process.hrtime.bigint()) / 1e6,
      until: Number.POSITIVE_INFINITY,
    };
    // Noted before it happens, so that whatever follows finds its cause.
    history.events.push(event);
    try {
      const effect = await once(round, part, planned);
      Object.assign(event, effect ?? {});
    } catch (error) {
      Object.assign(event, { subject: `failed: ${(error as Error).message.split("\n")[0]}` });
      if (!/broker|ECONN|HTTP|fetch|socket|timeout|clos/i.test((error as Error).message)) throw error;
    } finally {
      event.until = Number(process.hrtime.bigint()) / 1e6;
    }
  }
}

/** Faults of the node come one after another. */
const ofNode = new Turns();

async function once(round: Round, part: RunningPart | undefined, planned: PlannedFault): Promise<Effect | void> {
  const { broker } = round;
  switch (planned.kind) {
    case "broker-killed":
      return ofNode.take(() => broker.killed());
    case "broker-stopped":
      return ofNode.take(() => broker.stopped());
    case "power-cut":
      return ofNode.take(() => broker.cut());
    case "memory-alarm":
    case "disk-alarm":
      return ofNode.take(() =>
        raiseAlarm(broker, planned.kind as "memory-alarm" | "disk-alarm", planned.forMs ?? 1000),
      );
  }
  const fault = ofParts[planned.kind];
  if (part === undefined || fault === undefined) throw new Error(`there is nothing for ${planned.kind} to hit`);
  return fault(round, part, planned);
}
