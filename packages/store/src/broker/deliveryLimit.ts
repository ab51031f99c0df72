import { RequestOptions, request } from "node:https";
import { EntityPlan } from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies } from "@rabbitmq-delay/topology/stack";
import { hasStrayAt, showProtocol } from "../address";
import { StoreMismatchError } from "../errors";

const TIMEOUT_MS = 10_000;

/**
 * Lifts the delivery limit of a plan's quorum queues, with one policy for each, over the management API. Over AMQP it would be an argument,
 * with which the queues would differ from those that the components declare.
 * @param management its address; without a user, the one of `amqp` is used
 * @param amqp address of the broker, whose path is the vhost
 * @param ca certificate authority of an `https` address, in PEM; default: those that Node.js knows
 * @returns queues that nevertheless keep a limit, each with the name of the policy that sets it
 * @throws StoreMismatchError if the broker refuses; Error if nobody answers
 */
export async function liftDeliveryLimits(
  plan: EntityPlan,
  management: string,
  amqp: string,
  ca?: Buffer,
): Promise<KeptLimit[]> {
  const url = checkManagement(management);
  const login = url.username === "" ? new URL(amqp) : url;
  // Amqplib's default for an address without a user.
  const [user, password] = login.username === "" ? ["guest", "guest"] : [login.username, login.password];
  const credentials = `${decodeURIComponent(user)}:${decodeURIComponent(password)}`;
  const caller: Caller = {
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
      "content-type": "application/json",
    },
    ca: url.protocol === "https:" ? ca : undefined,
  };
  const vhost = encodeURIComponent(vhostOf(amqp));
  const base = `${url.origin}${url.pathname.replace(/\/+$/, "")}/api`;
  // Only brokers that have such limits get requests.
  const wanted = deliveryLimitPolicies(plan.queues, { brokerVersion: "4.0" });
  for (const planned of wanted) {
    const { name, applyTo, pattern, priority, definition } = planned;
    const path = `policies/${vhost}/${encodeURIComponent(name)}`;
    const policy = { pattern, "apply-to": applyTo, priority, definition };
    const response = await call(caller, "PUT", `${base}/${path}`, policy);
    if (response.ok) continue;
    const text = (await response.text()).slice(0, 200);
    const reason = `the policy ${name} was refused (HTTP ${response.status} ${text}); the user needs the tag policymaker`;
    if (response.status < 500) throw new StoreMismatchError("management", reason);
    throw new Error(reason);
  }
  const policies = await policiesOf(caller, `${base}/policies/${vhost}`);
  const operators = await policiesOf(caller, `${base}/operator-policies/${vhost}`);
  return plan.queues
    .filter(({ name }) => wanted.some((policy) => policy.name === `${name}.delivery-limit`))
    .flatMap(({ name }) => {
      const ours = `${name}.delivery-limit`;
      const by = findLimitingPolicy(name, policies, ours);
      const operator = findLimitingOperatorPolicy(name, operators);
      return [
        ...(by === undefined ? [] : [{ queue: name, by, isOperator: false }]),
        ...(operator === undefined ? [] : [{ queue: name, by: operator, isOperator: true }]),
      ];
    });
}

/** A queue whose delivery limit is not lifted. */
export interface KeptLimit {
  queue: string;
  /** Name of the policy that applies instead, or of the operator policy. */
  by: string;
  isOperator: boolean;
}

/** A policy, as the management API gives it. */
export interface GivenPolicy {
  name: string;
  pattern: string;
  "apply-to": string;
  priority: number;
  definition: Record<string, unknown>;
}

/**
 * The policy that applies to a queue instead of ours, and sets a limit or leaves the broker's; of policies of equal priority, any may
 * apply.
 */
export function findLimitingPolicy(queue: string, policies: readonly GivenPolicy[], ours: string): string | undefined {
  const own = policies.find(({ name }) => name === ours);
  const others = policies.filter((policy) => policy !== own && appliesTo(policy, queue) && isLimiting(policy));
  return others.find(({ priority }) => own === undefined || priority >= own.priority)?.name;
}

/** The operator policy that limits a queue. An operator policy is merged with any other; of two limits, the lower one counts. */
function findLimitingOperatorPolicy(queue: string, policies: readonly GivenPolicy[]): string | undefined {
  const setting = policies.filter((policy) => appliesTo(policy, queue) && "delivery-limit" in policy.definition);
  return setting.find(isLimiting)?.name;
}

function isLimiting({ definition }: GivenPolicy): boolean {
  const limit = definition["delivery-limit"];
  return typeof limit !== "number" || limit >= 0;
}

function appliesTo({ pattern, "apply-to": kind }: GivenPolicy, queue: string): boolean {
  if (!["all", "queues", "quorum_queues"].includes(kind)) return false;
  try {
    return new RegExp(pattern, "u").test(queue);
  } catch {
    // The broker's patterns have another dialect; a pattern that JavaScript can't read may apply.
    return true;
  }
}

/** The user who sends requests, and the certificate authority to trust. */
interface Caller {
  headers: Record<string, string>;
  ca: Buffer | undefined;
}

async function policiesOf(caller: Caller, url: string): Promise<GivenPolicy[]> {
  const response = await call(caller, "GET", url);
  if (response.ok) return (await response.json()) as GivenPolicy[];
  throw new Error(`the policies can't be read back (HTTP ${response.status})`);
}

async function call({ headers, ca }: Caller, method: string, url: string, body?: object): Promise<Response> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const options = { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) };
  try {
    return await (ca === undefined ? fetch(url, { ...options, body: text }) : callOver(ca, url, options, text));
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
    throw new Error(`the management API does not answer (${cause?.code ?? cause?.message ?? message})`);
  }
}

/** Sends a request with a certificate authority, which Node's own fetch does not take. */
function callOver(ca: Buffer, url: string, options: RequestOptions, body: string | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, ca }, (answer) => {
      const { statusCode: status = 500, statusMessage: statusText } = answer;
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("error", reject);
      // A response without a body must not even have an empty one.
      const whole = (): Buffer | null => (status === 204 || status === 304 ? null : Buffer.concat(parts));
      answer.on("end", () => resolve(new Response(whole(), { status, statusText })));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Checks the management API's address. No message shows the address, because it contains a password. */
function checkManagement(address: string): URL {
  const form = "write http://USER:PASSWORD@HOST:15672, or https://…";
  if (!URL.canParse(address)) throw new StoreMismatchError("management", `the address can't be read; ${form}`);
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol)) {
    throw new StoreMismatchError("management", `its protocol is ${showProtocol(url)}; ${form}`);
  }
  if (hasStrayAt(url)) throw new StoreMismatchError("management", `an @ stands behind its host; ${form}`);
  return url;
}

/** The vhost in an address, as AMQP clients read it: a missing or empty path is the default vhost. */
function vhostOf(amqp: string): string {
  return decodeURIComponent(new URL(amqp).pathname.slice(1)) || "/";
}
