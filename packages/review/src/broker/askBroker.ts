import { BrokerAnswerError, managementWayOut } from "@rabbitmq-delay/topology/stack";
import { EntityChange, isReadable, text } from "../preview/entityChange";
import type { BrokerAnswers } from "./brokerAnswers";

/** A queue, as the management API shows it. */
export interface FoundQueue {
  name: string;
  messages?: number;
  /** Whether they were counted at this moment. */
  isCountedNow?: boolean;
  /** For a quorum queue that dead-letters at least once: how many messages wait for a queue that accepts them. */
  messages_dlx?: number;
  consumers?: number;
  /** Seconds since 1970, for messages that have a timestamp. */
  head_message_timestamp?: number | null;
  /** `running`, `idle`, or the reason why it does not answer. */
  state?: string;
}

/** A vhost in which the program declares, and whether the state says that it exists already. */
interface Vhost {
  name: string;
  isThere: boolean;
}

/** The queues of all vhosts of a preview, by vhost and name. */
export type FoundQueues = Map<string, FoundQueue>;

export function queueKey(vhost: unknown, name: unknown): string {
  return JSON.stringify([vhost, name]);
}

/** Returns the broker's version. @throws BrokerAnswerError for a broker out of reach, and for what is no broker */
export async function versionOf(broker: BrokerAnswers): Promise<string> {
  const overview = await broker.get<{ rabbitmq_version?: unknown }>("overview");
  const version = overview?.rabbitmq_version;
  if (typeof version === "string") return version;
  const wayOut = managementWayOut(broker.managementUrl);
  throw unusableAnswer(broker, `what answers there is not RabbitMQ's management API; ${wayOut}`);
}

/**
 * Asks for the queues of all vhosts of a preview. An answer counts only if it can be right: it comes from a broker that has the vhosts, and
 * at least a part of what the state says exists.
 * @throws BrokerAnswerError for a broker out of reach, or an answer that can't be right
 */
export async function askForQueues(changes: EntityChange[], broker: BrokerAnswers): Promise<FoundQueues> {
  const found: FoundQueues = new Map();
  for (const vhost of vhostsOf(changes)) {
    const queues = await namesOf<FoundQueue>(
      broker,
      vhost,
      "queues",
      "name,messages,messages_dlx,consumers,head_message_timestamp,state",
    );
    for (const queue of queues) found.set(queueKey(vhost.name, queue.name), queue);
    if (vhost.isThere) await checkIsThere(changes, broker, vhost, queues);
  }
  return found;
}

/** The error for an answer that can't be right. */
export function unusableAnswer({ managementUrl }: BrokerAnswers, what: string): BrokerAnswerError {
  return new BrokerAnswerError(`${managementUrl}: ${what}`);
}

/** The vhosts in which a plan declares, as far as their names can be read. */
export function vhostsOf(changes: readonly EntityChange[]): Vhost[] {
  const isThere = new Map<string, boolean>();
  for (const { kind, before, after } of changes) {
    for (const values of [before, after]) {
      const name = kind === "vhost" ? values?.name : values?.vhost;
      if (!isReadable(name)) continue;
      isThere.set(name, isThere.get(name) === true || values === before);
    }
  }
  return [...isThere].map(([name, there]) => ({ name, isThere: there }));
}

/**
 * What a vhost of the state has of one kind.
 * @param columns what is asked for
 * @param needed what each one in the answer has to have; default: the first of the columns
 * @throws BrokerAnswerError for a vhost that is not there, and an answer that is no list, or lacks what it has to have
 */
export async function listOf<T extends object>(
  broker: BrokerAnswers,
  vhost: string,
  kind: "queues" | "exchanges" | "bindings",
  columns: string,
  needed = columns.split(",").slice(0, 1),
): Promise<T[]> {
  const found = await broker.get<T[]>(`${kind}/${encodeURIComponent(vhost)}?columns=${columns}`);
  if (found === undefined) throw unusableAnswer(broker, `there is no vhost ${vhost}, or the user may not look at it`);
  const isUsable = (one: Record<string, unknown> | null): boolean =>
    needed.every((column, index) => (index === 0 ? typeof one?.[column] === "string" : one?.[column] !== undefined));
  if (!Array.isArray(found) || !(found as (Record<string, unknown> | null)[]).every(isUsable)) {
    throw unusableAnswer(broker, `its answer about ${kind} of vhost ${vhost} is no list of them`);
  }
  return found;
}

/** Entities of one kind in a vhost; none if the vhost does not exist yet. */
async function namesOf<T extends { name: string }>(
  broker: BrokerAnswers,
  { name: vhost, isThere }: Vhost,
  kind: "queues" | "exchanges",
  columns: string,
): Promise<T[]> {
  if (isThere) return listOf(broker, vhost, kind, columns);
  const path = `${kind}/${encodeURIComponent(vhost)}?columns=${columns}`;
  return (await broker.get(path)) === undefined ? [] : listOf(broker, vhost, kind, columns);
}

/** Checks that at least a part of the state's queues and exchanges exists: a broker that has none of them is another one. */
async function checkIsThere(
  changes: EntityChange[],
  broker: BrokerAnswers,
  vhost: Vhost,
  queues: FoundQueue[],
): Promise<void> {
  const known = (kind: "queue" | "exchange"): string[] =>
    changes
      .filter((change) => change.kind === kind && change.before?.vhost === vhost.name)
      .map(({ before }) => text(before?.name))
      .filter(isReadable);
  const [knownQueues, knownExchanges] = [known("queue"), known("exchange")];
  if (knownQueues.length + knownExchanges.length === 0) return;
  const names = new Set(queues.map(({ name }) => name));
  if (knownQueues.some((name) => names.has(name))) return;
  const exchanges = knownExchanges.length === 0 ? [] : await namesOf(broker, vhost, "exchanges", "name");
  const exchangeNames = new Set(exchanges.map(({ name }) => name));
  if (knownExchanges.some((name) => exchangeNames.has(name))) return;
  throw unusableAnswer(
    broker,
    `its vhost ${vhost.name} has none of the ${knownQueues.length} queues and ${knownExchanges.length} exchanges that the ` +
      "stack's state has there; is it another broker? Where somebody deleted them, pulumi refresh says so",
  );
}
