import { DelayTopologyError } from "../errors";
import { byHand } from "../optionReading";
import type { ClusterSettings } from "../options.generated";
import { readOptions } from "../schema/options";
import { clusterSchema } from "./clusterSchema";
import { memoryPlan } from "./memory";

/** Archived, and what delay networks take the place of. */
const DELAYED_MESSAGE_PLUGIN = "rabbitmq_delayed_message_exchange";

/**
 * Reads what a cluster is made from.
 * @param unchecked properties whose values are known later
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function readCluster(given: unknown, unchecked: readonly string[] = []): ClusterSettings {
  const settings = readOptions(clusterSchema(), given, "cluster", { ...byHand, unchecked });
  checkCluster(settings);
  return settings;
}

/**
 * Looks at what several properties of a cluster say together.
 * @throws DelayTopologyError naming one of them
 */
export function checkCluster(settings: Omit<ClusterSettings, "password" | "removal">): void {
  const { tls, mode, erlangCookie, plugins, memoryMiB, memoryWatermark } = settings;
  if (tls !== undefined) checkTls(tls);
  checkErlangCookiePlace(mode, erlangCookie);
  if (plugins.includes(DELAYED_MESSAGE_PLUGIN)) {
    throw new DelayTopologyError(
      "plugins",
      DELAYED_MESSAGE_PLUGIN,
      "it is archived and no part of the image; delay networks take its place",
    );
  }
  memoryPlan(memoryMiB, memoryWatermark);
}

/** @throws DelayTopologyError for a cookie, which is not shown, beside an operator that makes one */
export function checkErlangCookiePlace(mode: unknown, erlangCookie: unknown): void {
  if (mode !== "operator" || erlangCookie === undefined) return;
  throw new DelayTopologyError("erlangCookie", "a secret", "the operator makes its own; leave it out");
}

function checkTls({ secretName, issuer, issuerKind }: NonNullable<ClusterSettings["tls"]>): void {
  if (secretName === undefined && issuer === undefined) {
    throw new DelayTopologyError(
      "tls.secretName",
      secretName,
      "give a Secret with a certificate, or a cert-manager issuer",
    );
  }
  if (issuer === undefined && issuerKind !== undefined)
    throw new DelayTopologyError("tls.issuerKind", issuerKind, "it goes with issuer");
}
