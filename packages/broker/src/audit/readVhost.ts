import {
  BrokerAnswerError,
  DeclaredExchange,
  DeclaredQueue,
  FoundPolicy,
  appliesTo,
  certainlyAppliesTo,
  managementWayOut,
} from "@rabbitmq-delay/topology/stack";
import { QueueOnBroker, VhostOnBroker, areStatisticsOff } from "./brokerFindings";
import { FoundBinding, asPlans } from "../api/bindings";
import { readTags } from "../api/answers";
import type { BrokerReader } from "../api/brokerReader";
import type { Login } from "./messageTypeFindings";

/** The content of a vhost, as one look shows it. */
export interface VhostContent extends VhostOnBroker {
  version: string;
  exchanges: (DeclaredExchange & { policy?: string })[];
  queues: (QueueOnBroker & DeclaredQueue & { exclusive?: boolean; policy?: string | null })[];
  policies: FoundPolicy[];
  /** The type that the vhost gives a queue without a type; undefined if the broker does not say. */
  defaultQueueType?: string;
}

/** The content of a vhost, as read by several looks. */
export interface Found extends VhostContent {
  /** The logins with permissions in the vhost; undefined if the user who asks is no administrator, whom alone the broker tells. */
  logins?: Login[];
  /** The queues as the first and each later look saw them; more than one look only if some queues seem to stand still. */
  looks: QueueOnBroker[][];
}

interface PolicyAnswer {
  name: string;
  pattern: string;
  "apply-to": string;
  priority: number;
  definition: Record<string, unknown>;
}

const EXCHANGE_COLUMNS = "name,type,durable,auto_delete,internal,arguments,policy";
const QUEUE_COLUMNS =
  "name,durable,auto_delete,exclusive,arguments,type,messages,messages_dlx,consumers,policy,effective_policy_definition";
/** A broker counts a queue's messages every five seconds, so the next look sees new numbers after this pause. */
const PAUSE_MS = 6000;
/** How often the broker is looked at before a queue is said to stand still. */
const LOOKS = 3;

/**
 * Reads everything in a vhost that a check needs; it waits for `pause` between looks at queues that seem to stand still.
 * @throws BrokerAnswerError for a broker out of reach, a vhost that does not exist, or an answer that can't be read
 */
export async function readVhost(broker: BrokerReader, vhost: string, pause = waitForNumbers): Promise<Found> {
  const content = await readContent(broker, vhost);
  const logins = await readLogins(broker, vhost);
  const looks = await repeatLooks(broker, encodeURIComponent(vhost), content, pause);
  const last = new Map((looks.at(-1) as QueueOnBroker[]).map((queue) => [queue.name, queue]));
  return {
    ...content,
    ...(logins === undefined ? {} : { logins }),
    // The queues as declared, with the newest numbers; a queue that disappeared meanwhile, such as one for replies, is left out.
    queues: content.queues.flatMap((queue) => {
      const newest = last.get(queue.name);
      return newest === undefined ? [] : [{ ...queue, ...newest }];
    }),
    looks,
  };
}

/**
 * Reads what is declared in a vhost, by one look.
 * @throws BrokerAnswerError for a broker out of reach, a vhost that does not exist, or an answer that can't be read
 */
export async function readContent(broker: BrokerReader, vhost: string): Promise<VhostContent> {
  const at = encodeURIComponent(vhost);
  const version = await versionOf(broker);
  const names = await broker.get<unknown>(`exchanges/${at}?columns=name`);
  if (names === undefined) {
    throw new BrokerAnswerError(`there is no vhost ${vhost}, or the user may not use it`);
  }
  const [queues, exchanges, bindings, policies, operatorPolicies] = await Promise.all([
    broker.list<VhostContent["queues"][number]>(`queues/${at}?columns=${QUEUE_COLUMNS}`),
    broker.list<VhostContent["exchanges"][number]>(`exchanges/${at}?columns=${EXCHANGE_COLUMNS}`),
    broker.list<FoundBinding>(`bindings/${at}`),
    broker.list<PolicyAnswer>(`policies/${at}`),
    broker.list<PolicyAnswer>(`operator-policies/${at}`),
  ]);
  checkFields(broker, exchanges, ["name", "type", "durable", "auto_delete", "internal", "arguments"]);
  checkFields(broker, queues, ["name", "durable", "auto_delete", "arguments"]);
  checkFields(broker, bindings, ["source", "destination", "destination_type", "routing_key"]);
  checkFields(broker, [...policies, ...operatorPolicies], ["name", "pattern", "apply-to", "priority", "definition"]);
  // Every vhost has the default exchange.
  if (exchanges.length === 0) {
    throw new BrokerAnswerError(
      `${broker.managementUrl}/api names no exchange at all in vhost ${vhost}; is it the management API's address?`,
    );
  }
  return {
    version,
    queues,
    exchanges,
    bindings: asPlans(bindings),
    policies: [
      ...policies.map((policy) => toFound(policy, false)),
      ...operatorPolicies.map((policy) => toFound(policy, true)),
    ],
    defaultQueueType: await defaultQueueTypeOf(broker, vhost),
  };
}

async function readLogins(broker: BrokerReader, vhost: string): Promise<Login[] | undefined> {
  const asking = await broker.get<{ tags?: string[] | string } | null>("whoami");
  if (!readTags(asking?.tags).includes("administrator")) return undefined;
  const [permissions, users] = await Promise.all([
    broker.list<{ user: string; configure: string }>(`vhosts/${encodeURIComponent(vhost)}/permissions`),
    broker.list<{ name: string; tags: string[] | string }>("users?columns=name,tags"),
  ]);
  checkFields(broker, permissions, ["user", "configure"]);
  checkFields(broker, users, ["name", "tags"]);
  const tags = new Map(users.map((user) => [user.name, readTags(user.tags)]));
  return permissions.map(({ user, configure }) => ({ user, configure, tags: tags.get(user) ?? [] }));
}

/** Brokers before 3.11 have no default type, and newer ones say `undefined` if nobody set it. */
async function defaultQueueTypeOf(broker: BrokerReader, vhost: string): Promise<string | undefined> {
  const vhosts = await broker.list<{ name?: unknown; default_queue_type?: unknown }>(
    "vhosts?columns=name,default_queue_type",
  );
  const type = vhosts.find(({ name }) => name === vhost)?.default_queue_type;
  return typeof type === "string" && type !== "undefined" ? type : undefined;
}

async function versionOf(broker: BrokerReader): Promise<string> {
  const overview = await broker.get<{ rabbitmq_version?: unknown } | null>("overview");
  if (typeof overview?.rabbitmq_version === "string") return overview.rabbitmq_version;
  throw new BrokerAnswerError(
    `${broker.managementUrl}/api/overview names no version of RabbitMQ; ${managementWayOut(broker.managementUrl)}`,
  );
}

/**
 * Looks again only if a queue keeps messages whose time is up, is not counted yet, or seems to lack a policy that matches it. All of this
 * is usual for a moment, because the broker shows numbers and policies of queues some seconds late.
 */
async function repeatLooks(
  broker: BrokerReader,
  at: string,
  { queues, policies }: VhostContent,
  pause: () => Promise<void>,
): Promise<QueueOnBroker[][]> {
  const looks: QueueOnBroker[][] = [queues];
  const isOff = areStatisticsOff({ queues });
  const isUnsure = (queue: QueueOnBroker & { policy?: string | null }): boolean =>
    queue.messages === undefined ||
    (queue.consumers === undefined && !isOff) ||
    (queue.messages_dlx ?? 0) > 0 ||
    isPolicyLate(queue, policies);
  while (looks.length < LOOKS && (looks.at(-1) as QueueOnBroker[]).some(isUnsure)) {
    await pause();
    looks.push(await broker.list<QueueOnBroker>(`queues/${at}?columns=${QUEUE_COLUMNS}`));
  }
  return looks;
}

/** Whether the broker shows no policy of a queue that has one, or a weaker one than surely applies. */
function isPolicyLate(
  { name, arguments: values, policy: shown }: QueueOnBroker & { policy?: string | null },
  policies: readonly FoundPolicy[],
): boolean {
  const own = policies.filter(({ isOperator }) => !isOperator);
  if (typeof shown !== "string") return own.some((policy) => appliesTo(policy, name, values));
  const priority = own.find((policy) => policy.name === shown)?.priority ?? -Infinity;
  return own.some((policy) => policy.priority > priority && certainlyAppliesTo(policy, name, values));
}

function waitForNumbers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

function checkFields(broker: BrokerReader, entries: object[], fields: string[]): void {
  const missing = fields.find((field) =>
    entries.some((entry) => (entry as Record<string, unknown>)[field] === undefined),
  );
  if (missing === undefined) return;
  throw new BrokerAnswerError(
    `an answer of ${broker.managementUrl}/api has no ${missing}; is it the management API's address?`,
  );
}

function toFound({ name, pattern, priority, definition, ...policy }: PolicyAnswer, isOperator: boolean): FoundPolicy {
  return { name, pattern, applyTo: policy["apply-to"], priority, definition, isOperator };
}
