import { formatDelay, levelQueueName, queueTtlMs } from "rabbitmq-delay-topology";
import type { RenderedPlan } from "./plan";

const ROW = 46;
const LEFT = 40;
const EXCHANGE_WIDTH = 250;
const QUEUE_WIDTH = 92;
const QUEUE_GAP = 10;
const TOP = 112;
const FONT = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";

const STYLE = `
  :root { color-scheme: light dark }
  .page { fill: #fbfcfe } .title { fill: #14213d; font-size: 22px; font-weight: 650 } .note { fill: #5b6b85; font-size: 13px }
  .exchange rect { fill: #e6edfb; stroke: #4a78d0 } .exchange text { fill: #1d3f7d; font-size: 12.5px }
  .queue rect { fill: #fff4dc; stroke: #d99a1c } .queue text { fill: #6d4a05; font-size: 12px; font-weight: 600 }
  .target rect { fill: #dff5e8; stroke: #2f9e63 } .target text { fill: #14603a; font-size: 12.5px; font-weight: 600 }
  .parking rect { fill: #fde7e6; stroke: #cf5a54 } .parking text { fill: #86241f; font-size: 12.5px }
  .zero { stroke: #4a78d0 } .expired { stroke: #d99a1c } .unroutable { stroke: #cf5a54; stroke-dasharray: 4 4 } .bound { stroke: #2f9e63 }
  path { fill: none; stroke-width: 1.6 } rect { stroke-width: 1.3 } text { font-family: ${FONT} }
  .digit { font-size: 11px; fill: #5b6b85 } .m-zero { fill: #4a78d0 } .m-expired { fill: #d99a1c } .m-unroutable { fill: #cf5a54 } .m-bound { fill: #2f9e63 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #10151f } .title { fill: #eef3fc } .note, .digit { fill: #9dabc4 }
    .exchange rect { fill: #1a2a4a } .exchange text { fill: #cfe0ff } .queue rect { fill: #3a2d10 } .queue text { fill: #ffdf9e }
    .target rect { fill: #12351f } .target text { fill: #b9f0d0 } .parking rect { fill: #3d1816 } .parking text { fill: #ffc9c5 }
  }`;

/** A picture of the plan: a ladder of levels, each with its exchange and what waits there, down to delivery and endpoints. */
export function renderSvg(plan: RenderedPlan): string {
  const { network } = plan;
  const destinations = [...new Set(plan.endpointBindings.map(({ destination }) => destination))];
  const queuesEnd = LEFT + EXCHANGE_WIDTH + 46 + (network.radix - 1) * (QUEUE_WIDTH + QUEUE_GAP);
  const width = Math.max(queuesEnd + 60, 780);
  const deliveryY = TOP + network.levels * ROW + 18;
  const height = deliveryY + 70 + Math.max(1, destinations.length) * 40 + (network.parkingQueue === undefined ? 0 : 20);
  const levels = Array.from({ length: network.levels }, (_, index) => network.levels - 1 - index);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>Delay network ${escape(network.prefix)}</title><style>${STYLE}</style>`,
    `<defs>${["zero", "expired", "unroutable", "bound"].map(marker).join("")}</defs>`,
    `<rect class="page" width="${width}" height="${height}" rx="14"/>`,
    `<text class="title" x="${LEFT}" y="46">${escape(network.prefix)}</text>`,
    `<text class="note" x="${LEFT}" y="70">${escape(summary(plan))}</text>`,
    `<text class="note" x="${LEFT}" y="90">A digit of the key says where a message waits; 0 goes straight on. Hover for full names.</text>`,
    ...levels.map((level, row) => drawLevel(plan, level, TOP + row * ROW, queuesEnd)),
    ...drawEnd(plan, destinations, deliveryY),
    "</svg>",
  ];
  return parts.join("\n");
}

function summary({ network, queues, exchanges, bindings }: RenderedPlan): string {
  const shape = `radix ${network.radix}, ${network.levels} levels, unit ${formatDelay(network.unitMs)}`;
  const count = `${exchanges.length} exchanges, ${queues.length} ${network.queueType} queues, ${bindings.length} bindings`;
  return `${shape}, longest delay ${approximately(network.maximumDelayMs)} · ${count}`;
}

function drawLevel({ network }: RenderedPlan, level: number, y: number, queuesEnd: number): string {
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

function drawEnd({ network }: RenderedPlan, destinations: string[], y: number): string[] {
  const start = LEFT + EXCHANGE_WIDTH;
  const parts = [box("exchange", LEFT, y - 18, EXCHANGE_WIDTH, network.deliveryExchange, network.deliveryExchange, 14)];
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

function box(kind: string, x: number, y: number, width: number, label: string, title: string, radius: number): string {
  const room = Math.floor((width - 16) / 6.6);
  const shown = label.length > room ? `${label.slice(0, room - 1)}…` : label;
  return (
    `<g class="${kind}"><title>${escape(title)}</title><rect x="${x}" y="${y}" width="${width}" height="30" rx="${radius}"/>` +
    `<text x="${x + width / 2}" y="${y + 19.5}" text-anchor="middle">${escape(shown)}</text></g>`
  );
}

function arrow(kind: string, path: string, hasHead: boolean): string {
  return `<path class="${kind}" d="${path}"${hasHead ? ` marker-end="url(#${kind})"` : ""}/>`;
}

function marker(kind: string): string {
  return (
    `<marker id="${kind}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" markerHeight="6" orient="auto-start-reverse">` +
    `<path class="m-${kind}" style="stroke:none" d="M0 0 L8 4 L0 8 z"/></marker>`
  );
}

/** The largest fitting unit with one decimal: for eyes, the exact number is in the title. */
function approximately(delayMs: number): string {
  const units: [string, number][] = [
    ["y", 31_536_000_000],
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1000],
  ];
  const [unit, size] = units.find(([, ms]) => delayMs >= ms) ?? ["ms", 1];
  return `${Number((delayMs / size).toFixed(1))} ${unit}`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
