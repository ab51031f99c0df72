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

/** A whole picture, light or dark as the reader prefers. */
export function page(title: string, width: number, height: number, parts: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title><style>${STYLE}</style>`,
    `<defs>${["zero", "expired", "unroutable", "bound"].map(marker).join("")}</defs>`,
    `<rect class="page" width="${width}" height="${height}" rx="14"/>`,
    ...parts,
    "</svg>",
  ].join("\n");
}

/** A box with a label that is cut if it is too long; its title has the whole name. */
export function box(
  kind: string,
  x: number,
  y: number,
  width: number,
  label: string,
  title: string,
  radius: number,
): string {
  const room = Math.floor((width - 16) / 7);
  const shown = label.length > room ? `${label.slice(0, room - 1)}…` : label;
  return (
    `<g class="${kind}"><title>${escape(title)}</title><rect x="${x}" y="${y}" width="${width}" height="30" rx="${radius}"/>` +
    `<text x="${x + width / 2}" y="${y + 19.5}" text-anchor="middle">${escape(shown)}</text></g>`
  );
}

/** A line; `kind` gives its colour and its arrow head. */
export function arrow(kind: string, path: string, hasHead: boolean): string {
  return `<path class="${kind}" d="${path}"${hasHead ? ` marker-end="url(#${kind})"` : ""}/>`;
}

function marker(kind: string): string {
  return (
    `<marker id="${kind}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" markerHeight="6" orient="auto-start-reverse">` +
    `<path class="m-${kind}" style="stroke:none" d="M0 0 L8 4 L0 8 z"/></marker>`
  );
}

/** A delay in the largest fitting unit, with one decimal; the exact number is in the title. */
export function approximately(delayMs: number): string {
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

/** Escapes a text for markup. */
export function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
