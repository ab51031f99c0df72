import { setTimeout as pause } from "node:timers/promises";
import { ManagementApi, ManagementApiError } from "@rabbitmq-delay/broker";
import { EnforceError } from "./enforceError";

/** How often a request is sent in all that has no answer, or at which the broker fails. */
const TRIES = 4;
/** How long to wait before a request is sent again, in milliseconds: a busy broker needs a moment. */
const PAUSE_MS = 2000;

/** Requests that may be sent again, because each asks the broker for a state, however often. */
export class Requests {
  /** @param api the broker's */
  constructor(private readonly api: ManagementApi) {}

  /** The answer to a reading. @throws ManagementApiError for a refusal, and if no try had an answer */
  get<T>(path: string): Promise<T> {
    return untilAnswered(() => this.api.get<T>(path));
  }

  /** The answer to a reading, or undefined if there is no such entity. @throws ManagementApiError as {@link get} does */
  async find<T>(path: string): Promise<T | undefined> {
    return this.get<T>(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
  }

  /** Makes a change. What shall be deleted may be gone. @throws EnforceError for a refusal, and if no try had an answer */
  async send(method: "PUT" | "POST" | "DELETE", path: string, body?: unknown): Promise<void> {
    const request = async (): Promise<void> => {
      try {
        await this.api.send(method, path, body);
      } catch (error) {
        // A run that was killed may have sent it too, and so may a try whose answer was lost.
        if (method !== "DELETE" || !isMissing(error)) throw error;
      }
    };
    await told(`${method} ${decodeURIComponent(path)} failed`, untilAnswered(request), rightFor(path));
  }
}

/** Whether the broker answered, and would answer the same again. */
export function isRefusal({ status }: ManagementApiError): boolean {
  return status !== 0 && status < 500;
}

/** Whether the broker refuses the user, or what the user asks for. */
export function isForbidden({ status }: ManagementApiError): boolean {
  return status === 401 || status === 403;
}

function isMissing(error: unknown): boolean {
  return error instanceof ManagementApiError && error.status === 404;
}

/**
 * Asks again when nothing answers, or the broker fails at it (HTTP 500 and above, as a busy one does), so that one such answer does not
 * end a change of minutes. A refusal is an answer.
 */
export async function untilAnswered<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ManagementApiError) || isRefusal(error) || tries === TRIES) throw error;
    }
    await pause(PAUSE_MS);
  }
}

/** Returns the right that a change of what a path names needs. */
function rightFor(path: string): string {
  const [kind, , ...names] = path.split("/").map(decodeURIComponent);
  if (kind === "policies") return "the tag policymaker";
  if (kind === "bindings") return `the rights to read ${names[1]} and to write ${names[3]}`;
  return `the right to configure ${names[0]}, or to write or read where it leads`;
}

/**
 * @param right without which the broker refuses a step; undefined for a reading
 * @throws EnforceError with what could not be done, and why
 */
export async function told<T>(what: string, answer: Promise<T>, right?: string): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ManagementApiError)) throw error;
    const { reason } = error;
    const refusal = right ?? "the tag policymaker, or its name or password is wrong";
    const rights = isForbidden(error) ? `; the user lacks ${refusal}` : "";
    throw new EnforceError(`${what}: ${reason}${rights}`);
  }
}
