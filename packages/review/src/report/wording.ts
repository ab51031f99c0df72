import type { Review } from "../review";
import type { Verdict } from "../verdict";

/** The text of each verdict. */
export const headlines: Record<Verdict, { sign: string; text: string }> = {
  nothing: { sign: "⚪", text: "Nothing changes" },
  safe: { sign: "🟢", text: "Safe" },
  care: { sign: "🟡", text: "Needs care" },
  unknown: { sign: "⛔", text: "Could not be reviewed" },
  loss: { sign: "🔴", text: "Would lose messages" },
};

/** The line under the verdict: what is at stake, and how much changes. */
export function countsLine({ counts, findings, messagesAtRisk }: Review): string {
  const open = findings.filter(({ severity, accepted }) => severity !== "note" && accepted === undefined);
  const dangers = open.filter(({ severity }) => severity === "loss").length;
  const cares = open.length - dangers;
  const parts = [
    ...(dangers > 0 ? [`${dangers} ${dangers === 1 ? "danger" : "dangers"}`] : []),
    ...(messagesAtRisk !== undefined && dangers > 0 ? [`${messagesAtRisk} messages wait there now`] : []),
    ...(cares > 0 ? [`${cares} to look at`] : []),
    ...(counts.create > 0 ? [`${counts.create} created`] : []),
    ...(counts.update > 0 ? [`${counts.update} updated`] : []),
    ...(counts.replace > 0 ? [`${counts.replace} replaced`] : []),
    ...(counts.delete > 0 ? [`${counts.delete} deleted or let go`] : []),
    `${counts.unchanged} unchanged`,
  ];
  return parts.join(" · ");
}
