import { RetryDescriptor, delayedRetryMs, intervalName, planHoldQueue, planWorkRetry } from "@rabbitmq-delay/topology";
import { waitMsOf } from "@rabbitmq-delay/topology/stack";
import type { RetriesPlan } from "./plan";
import { approximately, arrow, box, escape, page } from "./svgParts";

const LEFT = 40;
const ENTRY_WIDTH = 250;
const QUEUE_X = LEFT + ENTRY_WIDTH + 46;
const QUEUE_WIDTH = 92;
const TARGET_X = QUEUE_X + QUEUE_WIDTH + 76;
const TARGET_WIDTH = 250;
const WIDTH = TARGET_X + TARGET_WIDTH + 40;
const ROW = 42;
/** The most rows of one kind that are drawn; further ones are only counted. */
const MOST_ROWS = 12;

/** A queue in which messages wait, from left to right. */
interface Row {
  /** Where a message is published, or why it waits. */
  entry: string;
  queue: string;
  delayMs: number;
  /** Where the message goes afterwards; equal neighbours share a box. */
  target: string;
}

/** The picture of one descriptor. */
interface Panel {
  title: string;
  note: string;
  rows: Row[];
  /** Where a message goes after its last try, and why. */
  dead?: { queue: string; why: string };
}

/** Draws retry queues: for each descriptor, where messages wait, for how long, and where they go afterwards. */
export function renderRetriesSvg({ retries, endpointBindings }: RetriesPlan): string {
  const returned = [...new Set(endpointBindings.map(({ destination }) => destination))];
  const parts: string[] = [];
  let y = 46;
  for (const panel of retries.map((descriptor) => panelOf(descriptor, returned))) {
    parts.push(...drawPanel(panel, y));
    y += heightOf(panel);
  }
  return page("Retry queues", WIDTH, y - 10, parts);
}

function panelOf(descriptor: RetryDescriptor, returned: string[]): Panel {
  switch (descriptor.kind) {
    case "retry-intervals": {
      const { prefix, returnExchange, intervalsMs } = descriptor;
      const to = returned.length === 0 ? "the queue that the key names" : returned.join(", ");
      const rows = intervalsMs.map((delayMs) => {
        const name = intervalName(descriptor, delayMs);
        return { entry: name, queue: name, delayMs, target: `${returnExchange} → ${to}` };
      });
      return {
        title: `${prefix}: interval queues`,
        note: "A failed message waits an interval, and comes back to its own queue.",
        rows,
      };
    }
    case "work-retry": {
      const { name, maxRetries, deadQueue } = descriptor;
      const rows = planWorkRetry(descriptor).queues.flatMap((queue) => {
        const delayMs = waitMsOf(queue.arguments);
        if (delayMs === undefined) return [];
        return [{ entry: queue.name, queue: queue.name, delayMs, target: `${name} (exchange and queue)` }];
      });
      const dead = { queue: deadQueue, why: `what failed after ${maxRetries} retries` };
      return {
        title: `${name}: work queue with retries`,
        note: "A failed message comes back with the routing key that it had.",
        rows,
        dead,
      };
    }
    case "hold-queues": {
      const { prefix, leaseMs, delaysMs, destinations } = descriptor;
      const rows = destinations.flatMap((destination) =>
        delaysMs.map((delayMs) => {
          const { name } = planHoldQueue(descriptor, delayMs, destination);
          const { exchange, routingKey } = destination;
          return {
            entry: name,
            queue: name,
            delayMs,
            target: exchange === "" ? routingKey : `${exchange} → ${routingKey}`,
          };
        }),
      );
      const lease = leaseMs === undefined ? "queues stay" : `queues go ${approximately(leaseMs)} after their last use`;
      return { title: `${prefix}: hold queues`, note: `One queue per duration and destination; ${lease}.`, rows };
    }
    case "delayed-retry": {
      const { queue, type, minMs, deliveryLimit, deadQueue, deadLetterExchange } = descriptor;
      const rows = Array.from({ length: deliveryLimit }, (_, index) => ({
        entry: `failure ${index + 1}`,
        queue: `${queue}, inside`,
        delayMs: delayedRetryMs(descriptor, index + 1),
        target: queue,
      }));
      const dead = { queue: deadQueue ?? deadLetterExchange, why: `what failed more than ${deliveryLimit} times` };
      const note = `RabbitMQ 4.3 delays ${type === "all" ? "all returned" : type} messages by ${approximately(minMs)} × n itself.`;
      return { title: `${queue}: the broker's delayed retry`, note, rows, dead };
    }
  }
}

function heightOf({ rows, dead }: Panel): number {
  const more = rows.length > MOST_ROWS ? 26 : 0;
  return 58 + Math.min(rows.length, MOST_ROWS) * ROW + more + (dead === undefined ? 0 : ROW + 6) + 34;
}

function drawPanel({ title, note, rows, dead }: Panel, top: number): string[] {
  const parts = [
    `<text class="title" x="${LEFT}" y="${top}">${escape(title)}</text>`,
    `<text class="note" x="${LEFT}" y="${top + 24}">${escape(note)}</text>`,
  ];
  const start = top + 44;
  const shown = rows.slice(0, MOST_ROWS);
  shown.forEach((row, index) => parts.push(...drawRow(row, start + index * ROW, firstOfTarget(shown, index))));
  let y = start + shown.length * ROW;
  if (rows.length > shown.length) {
    parts.push(`<text class="note" x="${LEFT}" y="${y + 12}">and ${rows.length - shown.length} more</text>`);
    y += 26;
  }
  if (dead !== undefined) {
    parts.push(box("parking", TARGET_X, y + 6, TARGET_WIDTH, dead.queue, dead.queue, 4));
    parts.push(`<text class="note" x="${TARGET_X - 16}" y="${y + 26}" text-anchor="end">${escape(dead.why)}</text>`);
  }
  return parts;
}

/** How many rows up this row's target was drawn. */
function firstOfTarget(rows: Row[], index: number): number {
  let up = 0;
  while (rows[index - up - 1]?.target === rows[index]?.target) up++;
  return up;
}

function drawRow({ entry, queue, delayMs, target }: Row, y: number, rowsUp: number): string[] {
  const middle = y + 15;
  const queueEnd = QUEUE_X + QUEUE_WIDTH;
  const lane = queueEnd + 38;
  const parts = [
    box("exchange", LEFT, y, ENTRY_WIDTH, entry, entry, 14),
    arrow("zero", `M${LEFT + ENTRY_WIDTH} ${middle} H${QUEUE_X - 4}`, true),
    box("queue", QUEUE_X, y, QUEUE_WIDTH, approximately(delayMs), `${queue}: ${delayMs} ms`, 4),
  ];
  if (rowsUp > 0)
    return [...parts, arrow("expired", `M${queueEnd} ${middle} H${lane} V${middle - rowsUp * ROW}`, false)];
  return [
    ...parts,
    arrow("expired", `M${queueEnd} ${middle} H${TARGET_X - 4}`, true),
    box("target", TARGET_X, y, TARGET_WIDTH, target, target, 4),
  ];
}
