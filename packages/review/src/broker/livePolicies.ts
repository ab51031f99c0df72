import type { Finding } from "../judge/finding";
import { findingsOf } from "../judge/findings";
import type { OnBroker } from "../judge/missingTargets";
import { viewOn } from "../judge/policiesInForce";
import { EntityChange, isReadable } from "../preview/entityChange";
import type { Preview } from "../preview/preview";
import { differenceOf, isAbsent } from "./drift";
import { SECRET } from "../redact";
import type { LiveVhosts } from "./liveVhosts";
import { valuesOfPolicy } from "./onBrokerAlone";

/**
 * Returns a change with the values that the broker has: of a policy that differs from the state's, and of anything that the broker lacks.
 */
export function withLiveValues(change: EntityChange, live: LiveVhosts): EntityChange {
  const { kind, before } = change;
  const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
  if (["queue", "exchange", "binding"].includes(kind) && before !== undefined && vhost !== undefined)
    return isAbsent(change, vhost) ? { ...change, live: {} } : change;
  const view = kind === "policy" ? viewOn(change, "before") : undefined;
  const policies = view?.isOperators === true ? vhost?.operatorPolicies : vhost?.policies;
  if (vhost === undefined || view === undefined || policies === undefined) return change;
  if (differenceOf(change, before, vhost) === undefined) return change;
  const found = policies.get(String(before?.name));
  if (found === undefined) return { ...change, live: {} };
  // A secret of the state stays a secret, whatever the broker shows.
  const secrets = Object.entries(view.definition).filter(
    ([key, value]) => key in found.definition && String(value).includes(SECRET),
  );
  const definition = { ...found.definition, ...Object.fromEntries(secrets) };
  return { ...change, live: { values: valuesOfPolicy(view.vhost, { ...found, definition }) } };
}

/** Finds what would be lost by policies that this update leaves as the broker has them, and `--refresh` would declare. */
export function lostByRefresh(preview: Preview, changes: EntityChange[], onBroker: OnBroker): Finding[] {
  const isLeft = ({ kind, action, live }: EntityChange): boolean =>
    kind === "policy" && action === "same" && live !== undefined;
  const left = new Set(changes.filter(isLeft).map(({ urn }) => urn));
  if (left.size === 0) return [];
  const declared = changes.map((change): EntityChange => (isLeft(change) ? { ...change, action: "update" } : change));
  return findingsOf(preview, declared, onBroker)
    .filter(({ urn, severity }) => left.has(urn) && severity === "loss")
    .map((finding) => ({
      ...finding,
      // This update itself does not touch it.
      severity: "care" as const,
      detail: `${finding.detail ?? ""} The broker has it otherwise; \`pulumi up --refresh\` would declare it.`.trim(),
    }));
}
