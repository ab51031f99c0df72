import type { Finding } from "../judge/finding";
import { RuleName, rules } from "../judge/rules";
import { EntityChange, isMadeAnew, isReadable } from "../preview/entityChange";
import { differenceOf } from "./drift";
import type { LiveVhosts } from "./liveVhosts";

/**
 * Finds new and renamed queues and exchanges that the broker has already, outside this project's components, whose preflight compares their
 * own parts: with other settings the update fails half-way, and with the same ones somebody's queue comes under the stack.
 */
export function alreadyThere(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  const known = new Set(changes.flatMap(({ kind, before }) => (before === undefined ? [] : [keyOf(kind, before)])));
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, parent, isImport, partOf, after = {} } = change;
    const vhost = isReadable(after.vhost) ? live.get(after.vhost) : undefined;
    const isNew = isMadeAnew(change) && !isImport && partOf === undefined && !known.has(keyOf(kind, after));
    if (!isNew || vhost === undefined || !isReadable(after.name)) return [];
    const there = kind === "queue" ? vhost.queues : kind === "exchange" ? vhost.exchanges : undefined;
    if (there?.has(after.name) !== true) return [];
    const difference = differenceOf(change, after, vhost);
    const rule: RuleName = difference === undefined ? "taken-over" : "declared-otherwise";
    const found = difference === undefined ? "it is on the broker already" : `on the broker, ${difference}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity: `${kind} ${after.name}`, causes: [], found }];
  });
}

function keyOf(kind: string, { vhost, name }: Record<string, unknown>): string {
  return JSON.stringify([kind, vhost, name]);
}
