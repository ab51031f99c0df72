import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { mermaidLabel } from "./escape";
import { groupChanges } from "./groups";
import type { Review } from "../review";
import type { Mark } from "./summary";

/** With more boxes of one kind than this, they are drawn as one. */
const MOST_ALONE = 8;

/** A box of the picture: one changed thing, or several of a kind. */
export interface PictureNode {
  label: string;
  mark: Mark | "same";
  /** Whether it is a network, which is drawn on the left. */
  isNetwork: boolean;
  /** Index of the network that it belongs to. */
  network?: number;
}

/** The boxes of the picture: networks, and what changes at them; grouped if there would be too many. */
export function pictureOf({ changes }: Review): PictureNode[] {
  const nodes: PictureNode[] = [];
  const networks = new Map<string, number>();
  for (const line of changes.filter(({ subject }) => subject === "network")) {
    networks.set(line.network ?? line.name, nodes.length);
    nodes.push({ label: `network ${line.name}`, mark: line.mark, isNetwork: true });
  }
  for (const line of changes) {
    if (line.subject === "network" || line.network === undefined || networks.has(line.network)) continue;
    const network = networkOfDelivery(line.network);
    if (network === undefined) continue;
    networks.set(line.network, nodes.length);
    nodes.push({ label: `network ${network.prefix}`, mark: "same", isNetwork: true });
  }
  const others = changes.filter(({ subject }) => subject !== "network");
  for (const group of groupChanges(others)) {
    const network = group.network === undefined ? undefined : networks.get(group.network);
    const common = { mark: group.mark, isNetwork: false, ...(network === undefined ? {} : { network }) };
    if (group.names.length > MOST_ALONE) {
      nodes.push({ ...common, label: `${group.names.length} × ${group.subject}` });
      continue;
    }
    nodes.push(...group.names.map((name) => ({ ...common, label: `${group.subject} ${name}` })));
  }
  return bundle(nodes);
}

/** Combines many groups of one thing each, which would be too many boxes as well. */
function bundle(nodes: PictureNode[]): PictureNode[] {
  const isLoose = (node: PictureNode): boolean => !node.isNetwork;
  if (nodes.filter(isLoose).length <= 3 * MOST_ALONE) return nodes;
  const kept = nodes.filter((node) => !isLoose(node));
  const byKind = new Map<string, PictureNode & { count: number }>();
  for (const node of nodes.filter(isLoose)) {
    const key = JSON.stringify([node.mark, node.network]);
    const same = byKind.get(key) ?? { ...node, count: 0 };
    same.count += Number(/^(\d+) × /.exec(node.label)?.[1] ?? 1);
    byKind.set(key, same);
  }
  return [
    ...kept,
    ...[...byKind.values()].map(({ count, ...node }) => ({ ...node, label: `${count} × ${words[node.mark]}` })),
  ];
}

const words: Record<PictureNode["mark"], string> = {
  added: "added",
  removed: "removed",
  changed: "changed",
  same: "unchanged",
};

/** Renders the picture as a Mermaid flowchart; empty if nothing changes. */
export function renderMermaidPicture(review: Review): string {
  const nodes = pictureOf(review);
  if (nodes.length === 0) return "";
  const prefix: Record<PictureNode["mark"], string> = { added: "+ ", removed: "− ", changed: "~ ", same: "" };
  const lines = ["flowchart LR"];
  nodes.forEach(({ label, mark, isNetwork }, index) => {
    const [open, close] = isNetwork ? ["([", "])"] : ["[", "]"];
    lines.push(`  n${index}${open}"${prefix[mark]}${mermaidLabel(shorten(label))}"${close}:::${mark}`);
  });
  nodes.forEach(({ network, mark }, index) => {
    if (network !== undefined) lines.push(`  n${network} ${mark === "removed" ? "-.->" : "-->"} n${index}`);
  });
  for (const [mark, style] of Object.entries(styles))
    if (nodes.some((node) => node.mark === mark)) lines.push(`  classDef ${mark} ${style}`);
  return lines.join("\n");
}

const styles: Record<PictureNode["mark"], string> = {
  added: "fill:#dff5e8,stroke:#2f9e63,color:#14603a",
  removed: "fill:#fde7e6,stroke:#cf5a54,color:#86241f,stroke-dasharray:4 3",
  changed: "fill:#fff4dc,stroke:#d99a1c,color:#6d4a05",
  same: "fill:#eef1f6,stroke:#8a97ad,color:#3b4658",
};

/** Shortens a label for the picture; the list has the whole name. */
export function shorten(label: string, most = 60): string {
  const characters = [...label];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : label;
}
