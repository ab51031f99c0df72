import { html } from "./escape";
import { PictureNode, pictureOf, shorten } from "./picture";
import type { Review } from "../review";

const WIDTH = 860;
const BOX_WIDTH = 360;
const ROW = 40;
const RIGHT = WIDTH - BOX_WIDTH - 20;

const STYLE = `
.p-box { stroke-width: 1.4 } .p-text { font: 13px ui-sans-serif, system-ui, sans-serif } .p-line { fill: none; stroke: #8a97ad; stroke-width: 1.3 }
.p-added .p-box { fill: #dff5e8; stroke: #2f9e63 } .p-added .p-text { fill: #14603a }
.p-removed .p-box { fill: #fde7e6; stroke: #cf5a54; stroke-dasharray: 5 3 } .p-removed .p-text { fill: #86241f }
.p-changed .p-box { fill: #fff4dc; stroke: #d99a1c } .p-changed .p-text { fill: #6d4a05 }
.p-same .p-box { fill: #eef1f6; stroke: #8a97ad } .p-same .p-text { fill: #3b4658 }`;

/** Draws the picture of the page: networks on the left, what changes at them on the right; empty if nothing changes. */
export function renderSvgPicture(review: Review): string {
  const nodes = pictureOf(review);
  if (nodes.length === 0) return "";
  const lefts = nodes.filter(({ isNetwork }) => isNetwork);
  const rights = nodes.filter(({ isNetwork }) => !isNetwork);
  const rows = Math.max(lefts.length, rights.length);
  const height = rows * ROW + 10;
  const leftY = (node: PictureNode): number => (lefts.indexOf(node) + 0.5) * (height / Math.max(1, lefts.length));
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"><title>What changes</title><style>${STYLE}</style>`,
  ];
  rights.forEach((node, index) => {
    const y = index * ROW + ROW / 2 + 5;
    const network = node.network === undefined ? undefined : nodes[node.network];
    if (network !== undefined) {
      const from = leftY(network);
      const end = RIGHT - 6;
      parts.push(
        `<path class="p-line" d="M${BOX_WIDTH + 10} ${from} C ${BOX_WIDTH + 70} ${from} ${end - 60} ${y} ${end} ${y}"/>`,
      );
    }
    parts.push(box(node, lefts.length === 0 ? 10 : RIGHT, y, 4));
  });
  for (const node of lefts) parts.push(box(node, 10, leftY(node), 15));
  return `${parts.join("")}</svg>`;
}

const prefix: Record<PictureNode["mark"], string> = { added: "+ ", removed: "− ", changed: "~ ", same: "" };

function box({ label, mark }: PictureNode, x: number, y: number, radius: number): string {
  return (
    `<g class="p-${mark}"><title>${html(label)}</title>` +
    `<rect class="p-box" x="${x}" y="${y - 15}" width="${BOX_WIDTH}" height="30" rx="${radius}"/>` +
    `<text class="p-text" x="${x + 14}" y="${y + 4.5}">${html(prefix[mark] + shorten(label, 44))}</text></g>`
  );
}
