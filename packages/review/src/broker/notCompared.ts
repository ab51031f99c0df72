import type { Finding } from "../judge/finding";
import { rules } from "../judge/rules";
import { EntityChange, isReadable } from "../preview/entityChange";
import type { LiveVhosts } from "./liveVhosts";

/**
 * Says what of the state nobody could look for on the broker that was asked.
 * @param isWhole whether the preview lists all unchanged resources
 */
export function notCompared(
  changes: readonly EntityChange[],
  isElsewhere: (urn: string) => boolean,
  isWhole: boolean,
  live: LiveVhosts,
): Finding[] {
  const known = changes.filter(
    ({ kind, before }) => ["queue", "exchange", "binding"].includes(kind) && before !== undefined,
  );
  const elsewhere = known.filter(({ urn }) => isElsewhere(urn));
  const unread = known.filter((change) => !elsewhere.includes(change) && !isNamed(change));
  const reasons = [
    ...(isWhole ? [] : ["the preview does not list unchanged resources; make it with --show-sames"]),
    ...told(elsewhere, "on another broker of this plan than the one that was asked, or may be there"),
    ...unreadPolicies(changes, live),
    ...told(unread, "of a name or in a vhost that can't be read"),
  ];
  const rule = "not-compared";
  return reasons.map((entity) => ({ rule, severity: rules[rule].severity, urn: "", entity, causes: [] }));
}

/** Vhosts in which the plan takes something away, or sets a policy, and whose policies the user may not read. */
function unreadPolicies(changes: readonly EntityChange[], live: LiveVhosts): string[] {
  const touched = new Set(
    changes
      .filter(({ kind, action }) =>
        kind === "policy" ? action !== "same" : ["queue", "exchange"].includes(kind) && /delete|replace/.test(action),
      )
      .map(({ before, after }) => (before ?? after)?.vhost),
  );
  return [...live]
    .filter(([vhost, { policies }]) => policies === undefined && touched.has(vhost))
    .map(([vhost]) => `the policies of vhost ${vhost} can't be read, which takes a user with the tag policymaker`);
}

function told([first, ...rest]: EntityChange[], where: string): string[] {
  if (first === undefined) return [];
  const more = rest.length === 0 ? "is" : `and ${rest.length} more are`;
  return [`${first.kind} ${first.name} ${more} ${where}`];
}

function isNamed({ kind, before }: EntityChange): boolean {
  const { vhost, name, source, destination, routingKey = "" } = before ?? {};
  if (kind !== "binding") return isReadable(vhost) && isReadable(name);
  return [vhost, source, destination].every(isReadable) && (routingKey === "" || isReadable(routingKey));
}
