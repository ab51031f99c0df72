import { BrokerAnswerError } from "@rabbitmq-delay/topology/stack";
import type { Verdict } from "./verdict";
import type { BrokerAnswers } from "./broker/brokerAnswers";
import { addBrokerState } from "./broker/brokerState";
import { Action, EntityChange, entityChanges } from "./preview/entityChange";
import type { Finding } from "./judge/finding";
import { findingsOf } from "./judge/findings";
import { otherPlace } from "./preview/planBroker";
import type { Preview } from "./preview/preview";
import { rules } from "./judge/rules";
import { ChangeLine, summaryOf } from "./report/summary";

/** A danger that somebody lets pass, and why. */
export interface Acceptance {
  /** URN of a resource or of its component. */
  urn: string;
  reason: string;
}

/** Everything that a report says, whatever its form. */
export interface Review {
  verdict: Verdict;
  counts: Record<Exclude<Action, "same">, number> & { unchanged: number };
  /** Dangers first, then what needs care, then notes. */
  findings: Finding[];
  changes: ChangeLine[];
  accepted: Acceptance[];
  /** Messages in the queues that would lose them; undefined if no broker was asked, or it did not answer. */
  messagesAtRisk?: number;
  /** Why the broker that was asked contributes nothing to this review. */
  brokerError?: string;
}

/** How a preview is reviewed. */
export interface ReviewOptions {
  accepted?: Acceptance[];
  /** The broker to ask how many messages are in question. */
  broker?: BrokerAnswers;
}

const order = ["loss", "care", "note"] as const;

/**
 * Reviews a preview. A broker without a usable answer is a finding, and makes nothing safer: every queue that would be deleted then counts
 * as holding messages.
 */
export async function reviewOf(preview: Preview, options: ReviewOptions = {}): Promise<Review> {
  const { accepted = [], broker } = options;
  const changes = entityChanges(preview);
  const isAccepted = (change: EntityChange): boolean => acceptanceOf(change, accepted) !== undefined;
  const state =
    broker === undefined
      ? { findings: findingsOf(preview, changes, undefined, isAccepted) }
      : await askBroker(preview, changes, broker, isAccepted);
  const findings = state.findings
    .map((finding) => accept(finding, accepted))
    .sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  const counts = countsOf(changes, preview.unchanged);
  return {
    verdict: verdictOf(findings, counts),
    counts,
    findings,
    changes: summaryOf(changes),
    accepted,
    ...("messages" in state ? { messagesAtRisk: state.messages } : {}),
    ...("error" in state ? { brokerError: state.error } : {}),
  };
}

async function askBroker(
  preview: Preview,
  changes: EntityChange[],
  broker: BrokerAnswers,
  isAccepted: (change: EntityChange) => boolean,
): Promise<{ findings: Finding[]; messages: number } | { findings: Finding[]; error: string }> {
  try {
    const state = await addBrokerState(preview, changes, broker, isAccepted);
    const place = otherPlace(preview, broker.managementUrl);
    return place === undefined
      ? state
      : { ...state, findings: [...state.findings, findOtherBroker(place, broker, findingsOf(preview, changes))] };
  } catch (error) {
    if (!(error instanceof BrokerAnswerError)) throw error;
    const rule = "broker-not-asked";
    const { severity } = rules[rule];
    return {
      findings: [
        ...findingsOf(preview, changes, undefined, isAccepted),
        { rule, severity, urn: "", entity: error.message, causes: [] },
      ],
      error: error.message,
    };
  }
}

/** Counts from a broker with another address than the plan's may be another broker's; that matters if they made something safer. */
function findOtherBroker(place: string, { managementUrl }: BrokerAnswers, planned: Finding[]): Finding {
  const isInQuestion = planned.some(
    ({ severity, queue, rule }) => severity === "loss" && (queue !== undefined || rule.startsWith("policy-")),
  );
  const entity = `${managementUrl} was asked, and the plan declares on ${place}`;
  return { rule: "broker-elsewhere", severity: isInQuestion ? "care" : "note", urn: "", entity, causes: [] };
}

function acceptanceOf(
  { urn, parent }: { urn: string; parent?: string },
  accepted: Acceptance[],
): Acceptance | undefined {
  return accepted.find((one) => one.urn !== "" && (one.urn === urn || one.urn === parent));
}

function accept(finding: Finding, accepted: Acceptance[]): Finding {
  const acceptance = acceptanceOf(finding, accepted);
  return acceptance === undefined || finding.severity === "note"
    ? finding
    : { ...finding, accepted: acceptance.reason };
}

function verdictOf(findings: Finding[], counts: Review["counts"]): Verdict {
  const open = findings.filter((finding) => finding.accepted === undefined).map(({ severity }) => severity);
  if (open.includes("loss")) return "loss";
  if (findings.some(({ rule }) => rule === "preview-failed")) return "unknown";
  if (open.includes("care")) return "care";
  const { create, delete: deleted, replace, update } = counts;
  return create + deleted + replace + update > 0 ? "safe" : "nothing";
}

function countsOf(changes: EntityChange[], unchanged: number): Review["counts"] {
  const count = (action: Action): number =>
    changes.filter((change) => change.action === action && change.kind !== "component").length;
  return {
    create: count("create"),
    delete: count("delete"),
    replace: count("replace"),
    update: count("update"),
    unchanged,
  };
}
