import { readableDelay, levelQueueName, queueTtlMs } from "@rabbitmq-delay/topology";
import type { NetworkPlan } from "./plan";
import { approximately, arrow, box, escape, page } from "./svgParts";

const ROW = 46;
const LEFT = 40;
const EXCHANGE_WIDTH = 250;
const QUEUE_WIDTH = 92;
const QUEUE_GAP = 10;
const TOP = 112;
/** Draws the plan as a ladder of levels, each with its exchange and its queues, down to delivery and endpoints. */
export function renderSvg(plan: NetworkPlan): string {
  const { network } = plan;
  const destinations = [...new Set(plan.endpointBindings.map(({ destination }) => destination))];
  const queuesEnd = LEFT + EXCHANGE_WIDTH + 46 + (network.radix - 1) * (QUEUE_WIDTH + QUEUE_GAP);
  const width = Math.max(queuesEnd + 60, 780);
  const deliveryY = TOP + network.levels * ROW + 18;
  const height = deliveryY + 70 + Math.max(1, destinations.length) * 40 + (network.parkingQueue === undefined ? 0 : 20);
  const levels = Array.from({ length: network.levels }, (_, index) => network.levels - 1 - index);
  const parts = [
    `<text class="title" x="${LEFT}" y="46">${escape(network.prefix)}</text>`,
    `<text class="note" x="${LEFT}" y="70">${escape(summary(plan))}</text>`,
    `<text class="note" x="${LEFT}" y="90">A digit of the key says where a message waits; 0 goes straight on. Hover for full names.</text>`,
    ...levels.map((level, row) => drawLevel(plan, level, TOP + row * ROW, queuesEnd)),
    ...drawEnd(plan, destinations, deliveryY),
  ];
  return page(`Delay network ${network.prefix}`, width, height, parts);
}

function summary({ network, queues, exchanges, bindings }: NetworkPlan): string {
  const shape = `radix ${network.radix}, ${network.levels} levels, unit ${readableDelay(network.unitMs)}`;
  const count = `${exchanges.length} exchanges, ${queues.length} ${network.queueType} queues, ${bindings.length} bindings`;
  return `${shape}, longest delay ${approximately(network.maximumDelayMs)} · ${count}`;
}

function drawLevel({ network }: NetworkPlan, level: number, y: number, queuesEnd: number): string {
  const name = network.entryExchanges[level] as string;
  const parts = [box("exchange", LEFT, y, EXCHANGE_WIDTH, name, name, 14)];
  const middle = y + 15;
  const start = LEFT + EXCHANGE_WIDTH;
  for (let digit = 1; digit < network.radix; digit++) {
    const x = start + 46 + (digit - 1) * (QUEUE_WIDTH + QUEUE_GAP);
    const ttlMs = queueTtlMs(network, level, digit);
    const title = `${levelQueueName(network, level, digit)}: ${ttlMs} ms`;
    parts.push(box("queue", x, y, QUEUE_WIDTH, approximately(ttlMs), title, 4));
    parts.push(`<text class="digit" x="${x - 9}" y="${middle - 5}">${digit.toString(16)}</text>`);
  }
  parts.push(arrow("zero", `M${start} ${middle} H${start + 32}`, false));
  // Expired messages fall to the next exchange; one line for all queues of a level.
  const lane = queuesEnd + 12;
  parts.push(
    arrow("expired", `M${queuesEnd - QUEUE_GAP} ${middle} H${lane} V${y + 38} H${start - 20} V${y + 44}`, true),
  );
  parts.push(arrow("zero", `M${LEFT + 40} ${y + 30} V${y + 44}`, true));
  parts.push(`<text class="digit" x="${LEFT + 48}" y="${y + 42}">0</text>`);
  return parts.join("");
}

function drawEnd({ network }: NetworkPlan, destinations: string[], y: number): string[] {
  const start = LEFT + EXCHANGE_WIDTH;
  const parts = [box("exchange", LEFT, y - 18, EXCHANGE_WIDTH, network.bindingExchange, network.bindingExchange, 14)];
  destinations.forEach((name, index) => {
    const row = y - 18 + index * 40;
    parts.push(box("target", start + 90, row, 260, name, name, 4));
    parts.push(arrow("bound", `M${start} ${y - 3} H${start + 44} V${row + 15} H${start + 86}`, true));
  });
  if (network.parkingQueue !== undefined) {
    const row = y + 22 + Math.max(0, destinations.length - 1) * 40;
    parts.push(box("parking", LEFT, row + 20, EXCHANGE_WIDTH, network.parkingQueue, network.parkingQueue, 4));
    parts.push(arrow("unroutable", `M${LEFT + 40} ${y + 12} V${row + 16}`, true));
    parts.push(`<text class="note" x="${start + 14}" y="${row + 40}">keeps what no binding takes</text>`);
  }
  return parts;
}
