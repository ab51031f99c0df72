import type { Violation } from "./invariants/violation";
import type { Part, Plan, PlannedMessage } from "./plan/types";

/** Smaller plans of one plan, those first that would take most away. */
export function* smaller(plan: Plan, violation: Violation): Generator<Plan> {
  const { parts, faults } = plan;
  yield* leaps(plan, violation);
  if (parts.length > 1) {
    const part = parts.find(({ name }) => name === violation.part);
    if (part !== undefined) {
      yield { ...plan, parts: [part], faults: faults.filter((fault) => (fault.part ?? part.name) === part.name) };
    }
    for (const { name } of parts) {
      yield {
        ...plan,
        parts: parts.filter((one) => one.name !== name),
        faults: faults.filter((one) => one.part !== name),
      };
    }
  }
  if (faults.length > 1) yield { ...plan, faults: [] };
  for (const fault of faults) yield { ...plan, faults: faults.filter((one) => one !== fault) };
  for (const part of parts) {
    for (const less of smallerParts(part, violation)) {
      yield { ...plan, parts: parts.map((one) => (one === part ? less : one)) };
    }
  }
  for (const fault of faults) {
    if ((fault.times ?? 1) > 1) {
      const times = Math.floor((fault.times as number) / 2);
      yield { ...plan, faults: faults.map((one) => (one === fault ? { ...fault, times } : one)) };
    }
  }
}

/** Straight to the message that it is about, which is often enough. */
function* leaps(plan: Plan, violation: Violation): Generator<Plan> {
  const part = plan.parts.find(({ name }) => name === violation.part);
  if (part === undefined || part.mechanism === "command") return;
  const [least] = smallerParts(part, violation);
  const isAboutOne = least !== undefined && least.mechanism !== "command" && least.messages.length === 1;
  if (!isAboutOne) return;
  const faults = plan.faults.filter((fault) => (fault.part ?? part.name) === part.name);
  if (faults.length > 0) yield { ...plan, parts: [least], faults: [] };
  if (plan.parts.length > 1 || faults.length > 0) yield { ...plan, parts: [least], faults };
}

function* smallerParts(part: Part, violation: Violation): Generator<Part> {
  if (part.mechanism === "command") {
    if (part.mistakes.length > 1) for (const mistake of part.mistakes) yield { ...part, mistakes: [mistake] };
    return;
  }
  const messages: PlannedMessage[] = part.messages;
  const withMessages = (chosen: PlannedMessage[]): Part => ({ ...part, messages: chosen }) as Part;
  if (messages.length > 1) {
    const bad = messages.filter(({ n }) => n === violation.n?.replace(/\++$/, ""));
    if (bad.length > 0) {
      yield withMessages(bad);
      const ids = new Set(bad.map(({ messageId }) => messageId).filter((id) => id !== undefined));
      const sameId = messages.filter(({ messageId }) => messageId !== undefined && ids.has(messageId));
      if (sameId.length > bad.length && sameId.length < messages.length) yield withMessages(sameId);
    }
    const half = Math.ceil(messages.length / 2);
    yield withMessages(messages.slice(0, half));
    yield withMessages(messages.slice(half));
    yield withMessages(messages.filter((_, index) => index % 2 === 0));
    if (messages.length <= 4) for (const one of messages) yield withMessages(messages.filter((other) => other !== one));
  }
  if (part.mechanism === "network" && part.endpoints.length > 1) {
    const reached = part.endpoints.filter(({ name, patterns = [name] }) =>
      part.messages.some(({ destination }) =>
        patterns.some((pattern) => pattern.split(".").at(-1) === destination.split(".").at(-1)),
      ),
    );
    if (reached.length > 0 && reached.length < part.endpoints.length) yield { ...part, endpoints: reached };
  }
  if (part.mechanism === "store") {
    if (part.requests.length > 0) yield { ...part, requests: [] };
    if (part.instances > 1) yield { ...part, instances: 1 };
  }
  if (part.mechanism === "retry") {
    if (part.immediate > 0) yield { ...part, immediate: 0 };
    if (part.messages.some(({ workMs }) => workMs > 0)) {
      yield { ...part, messages: part.messages.map((message) => ({ ...message, workMs: 0 })) };
    }
  }
}

/** How large a plan is. */
export function sizeOf({ parts, faults }: Plan): number {
  const messages = parts.reduce(
    (sum, part) => sum + (part.mechanism === "command" ? part.mistakes.length : part.messages.length),
    0,
  );
  return parts.length * 20 + faults.length * 10 + messages;
}

/**
 * The smallest plan found in time that still breaks the same promise.
 * @param breaks runs a plan, and gives the violation of the same kind, if there is one
 */
export async function shrink(
  plan: Plan,
  violation: Violation,
  breaks: (plan: Plan) => Promise<Violation | undefined>,
  isOver: () => boolean,
): Promise<Plan> {
  let [smallest, found] = [plan, violation];
  for (let hasShrunk = true; hasShrunk;) {
    hasShrunk = false;
    for (const candidate of smaller(smallest, found)) {
      if (isOver()) return smallest;
      const again = await breaks(candidate);
      if (again === undefined) continue;
      [smallest, found, hasShrunk] = [candidate, again, true];
      break;
    }
  }
  return smallest;
}
