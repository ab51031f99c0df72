import { shellWord } from "./shellWord";
import { PolicyPlan } from "@rabbitmq-delay/topology";
import { DeclaredEntities, planDeclareRights } from "@rabbitmq-delay/topology/stack";
import { readTags } from "../api/answers";
import { BrokerCheckError } from "../brokerCheckError";
import type { ManagementApi, ManagementApiError } from "../api/managementApi";

/** What a program is going to make, as far as rights are concerned. */
export interface RightsNeed {
  vhost: string;
  /** Whether the program makes the vhost, whose rights come with it. */
  createsVhost?: boolean;
  /** The entities to declare, without those that exist already. */
  missing: DeclaredEntities;
  /** Names that exist, if they are known; default: all that are not missing. */
  there?: { exchanges: ReadonlySet<string>; queues: ReadonlySet<string> };
  /** Policies that are not on the broker yet, or exist with another content. */
  policies: PolicyPlan[];
  /** Whether the program makes users and their permissions. */
  makesUsers?: boolean;
}

/**
 * Checks that a user may make all of it, so that nothing is made if the last part would be refused. An administrator's permissions are
 * read. The broker tells nobody else their own, so these are tried, with requests that make nothing: an exchange with an impossible
 * argument, and a binding between names that don't exist.
 * @param tags of the user, if they are known already
 * @throws BrokerCheckError naming the user, what it lacks, and what for
 */
export async function checkRights(
  api: ManagementApi,
  username: string,
  need: RightsNeed,
  tags?: readonly string[],
): Promise<void> {
  const own = tags ?? (await tagsOf(api, username));
  const isAdministrator = own.includes("administrator");
  const lacks = (tag: string, reason: string): BrokerCheckError =>
    new BrokerCheckError(
      `broker.username: user ${username} lacks the tag ${tag} (it has: ${own.join(", ") || "none"}), without which ${reason}; ` +
        `nothing was made. Add the tag by rabbitmqctl set_user_tags ${shellWord(username)} ${[...own, tag].join(" ")}`,
    );
  const [policy] = need.policies;
  if (need.createsVhost && !isAdministrator) {
    throw lacks("administrator", `it can't make the vhost ${need.vhost}`);
  }
  if (need.makesUsers && !isAdministrator) throw lacks("administrator", "it can't make users and their permissions");
  if (policy !== undefined && !isAdministrator && !own.includes("policymaker")) {
    throw lacks("policymaker", `it can't set policies, e.g. ${policy.name}`);
  }
  if (need.createsVhost) return;
  // The broker knows nothing about the permissions of a user for whom LDAP, OAuth 2 or an HTTP service vouches.
  if (isAdministrator && (await isInternal(api, username))) await readPermissions(api, username, need);
  else await tryPermissions(api, username, need);
}

/**
 * The tags of the user who asks.
 * @throws BrokerCheckError if the broker does not say
 */
export async function tagsOf(api: ManagementApi, username: string): Promise<string[]> {
  const { tags } = await api.get<{ tags: string[] | string }>("whoami").catch((error: ManagementApiError) => {
    throw new BrokerCheckError(
      `broker.username: the broker does not say what user ${username} may do: ${error.reason}`,
    );
  });
  return readTags(tags);
}

/** Whether the broker itself stores a user, with its permissions; only an administrator can ask. */
async function isInternal(api: ManagementApi, username: string): Promise<boolean> {
  try {
    await api.get(`users/${encodeURIComponent(username)}`);
    return true;
  } catch (error) {
    if ((error as ManagementApiError).status === 404) return false;
    throw new BrokerCheckError(
      `broker.username: its permissions can't be read: ${(error as ManagementApiError).reason}`,
    );
  }
}

/** Reads an administrator's permissions: administrators need permissions in the vhost like everybody else. */
async function readPermissions(api: ManagementApi, username: string, { vhost, missing }: RightsNeed): Promise<void> {
  const rights = planDeclareRights(missing);
  if (Object.values(rights).every((names) => names.length === 0)) return;
  const path = `permissions/${encodeURIComponent(vhost)}/${encodeURIComponent(username)}`;
  const found = await api.get<Record<keyof typeof rights, string>>(path).catch((error: ManagementApiError) => {
    if (error.status === 404) return { configure: "^$", write: "^$", read: "^$" };
    throw new BrokerCheckError(`broker.username: its permissions can't be read: ${error.reason}`);
  });
  for (const right of ["configure", "write", "read"] as const) {
    const refused = rights[right].find((name) => !permits(found[right], name));
    if (refused !== undefined) throw refusal(username, vhost, `${right} ${refused}`);
  }
}

async function tryPermissions(api: ManagementApi, username: string, need: RightsNeed): Promise<void> {
  const { vhost, missing } = need;
  const at = encodeURIComponent(vhost);
  const names = missing.exchanges.concat(missing.queues).map(({ name }) => name);
  const levelOf = levelNames(missing);
  const attempts = [
    ...oneOfEach(names, levelOf).map((name) => ({
      what: `configure ${name}`,
      method: "PUT",
      path: `exchanges/${at}/${encodeURIComponent(name)}`,
      body: { type: "fanout", durable: true, arguments: { "alternate-exchange": 0 } },
    })),
    ...oneOfEach(listLed(missing), ({ source, destination }) => `${levelOf(source)} ${levelOf(destination)}`)
      .flatMap((led) => impossibleBindings(led, need))
      .map(({ what, path }) => ({ what, method: "POST", path: `bindings/${at}/${path}`, body: { routing_key: "" } })),
  ];
  for (const { what, method, path, body } of attempts) {
    const status = await api.attempt(method, path, body);
    if (status === 401 || status === 403) throw refusal(username, vhost, what);
  }
}

interface Led {
  source: string;
  destination: string;
}

/** Which names are read and which are written: by bindings, and by entities with an alternate or dead-letter exchange, as claims have. */
function listLed({ exchanges, queues, bindings }: DeclaredEntities): Led[] {
  const toOthers = [
    ...exchanges.map(({ name, arguments: values }) => [name, values?.["alternate-exchange"]] as const),
    ...queues.map(({ name, arguments: values }) => [name, values["x-dead-letter-exchange"]] as const),
  ].filter((led): led is [string, string] => typeof led[1] === "string");
  return [
    ...bindings,
    // The default exchange's name in permissions.
    ...toOthers.map(([source, destination]) => ({ source, destination: destination || "amq.default" })),
  ];
}

/**
 * Bindings that need these rights and can't be made, because one of their ends does not exist: permissions are by name, whether a queue or
 * an exchange has it. Where source and destination are there, and both a queue and an exchange have the destination's name, each end is
 * tried with an end of another binding that is not there.
 * @returns none if all ends of all bindings are there; then the broker has the last word
 */
function impossibleBindings(led: Led, { missing, there }: RightsNeed): { what: string; path: string }[] {
  const isThere = (kind: "exchanges" | "queues", name: string): boolean =>
    there === undefined ? !missing[kind].some((one) => one.name === name) : there[kind].has(name);
  const attempt = (source: string, kind: "q" | "e", destination: string): { what: string; path: string } => ({
    what: `read ${source} and write ${destination}`,
    path: `e/${encodeURIComponent(source)}/${kind}/${encodeURIComponent(destination)}`,
  });
  const { source, destination } = led;
  if (!isThere("exchanges", source) || !isThere("queues", destination)) return [attempt(source, "q", destination)];
  if (!isThere("exchanges", destination)) return [attempt(source, "e", destination)];
  const all = listLed(missing);
  const otherSource = all.find((other) => !isThere("exchanges", other.source))?.source;
  const otherDestination = all.find((other) => !isThere("queues", other.destination))?.destination;
  return [
    ...(otherSource === undefined ? [] : [attempt(otherSource, "q", destination)]),
    ...(otherDestination === undefined ? [] : [attempt(source, "q", otherDestination)]),
  ];
}

/** Keeps one of the values whose texts are the same. Each attempt logs a line on the broker. */
function oneOfEach<T>(values: T[], textOf: (value: T) => string): T[] {
  return [...new Map(values.map((value) => [textOf(value), value])).values()];
}

/**
 * Returns the same text for the names of all levels of a planned network: only levels are numerous, and all of them are allowed or refused
 * alike. A network's levels are recognized by their queues, in which messages wait; an endpoint may be called `support.level-1`.
 */
function levelNames({ queues }: DeclaredEntities): (name: string) => string {
  const withoutLevel = (name: string): string => name.replace(/(level-|delayed_)\d+(-\d+)?$/, "$1#");
  const levels = new Set(
    queues.filter((queue) => "x-message-ttl" in queue.arguments).map(({ name }) => withoutLevel(name)),
  );
  return (name) => (levels.has(withoutLevel(name)) ? withoutLevel(name) : name);
}

function refusal(username: string, vhost: string, what: string): BrokerCheckError {
  return new BrokerCheckError(
    `broker.username: user ${username} may not ${what} in vhost ${vhost}; nothing was made. Widen its permissions by ` +
      `rabbitmqctl set_permissions`,
  );
}

/** Whether a permission covers a name. A pattern that JavaScript can't read counts as covering it: the broker itself has the last word. */
function permits(pattern: string, name: string): boolean {
  if (pattern === "") return false;
  try {
    return new RegExp(pattern).test(name);
  } catch {
    return true;
  }
}
