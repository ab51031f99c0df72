import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import {
  AccessPlan,
  OwnershipPlan,
  checkUserName,
  checkUserPassword,
  planOwnership,
  readCredential,
} from "@rabbitmq-delay/topology/stack";
import { generated } from "./generated";
import { isPlain } from "./joinedNetwork";
import { readArguments } from "./knownArguments";
import { checkedLater } from "./laterValues";

/** Login of a service. A service has two while its password changes. */
export interface EndpointCredential {
  /** What tells it from the other, e.g. `a` and `b`, or a year in quotes. The user is `NAME-SUFFIX`; left out, it is the name. */
  suffix?: string;
  /** At least 12 characters; give a secret. Default: one is generated, once. */
  password?: pulumi.Input<string>;
}

/** A user and its password. */
export interface Login {
  user: string;
  /** Undefined for one that is generated. */
  password: pulumi.Input<string> | undefined;
}

/**
 * The users of credentials, each with its name.
 * @throws DelayTopologyError for names and passwords that the broker or the provider would mangle, and for a login twice
 */
export function checkCredentials({ user, credentials }: { user: string; credentials: EndpointCredential[] }): Login[] {
  checkUserName("user", user);
  if (!Array.isArray(credentials) || credentials.length === 0) {
    throw new DelayTopologyError("credentials", credentials, "it must be a list of at least one login");
  }
  const logins = credentials.map((credential, index) => {
    const place = `credentials[${index}]`;
    const read = (given: unknown, unchecked: readonly string[]): string =>
      readCredential(user, given, place, unchecked);
    const login = readArguments(credential, read, { later: ["password"] });
    const { password } = credential;
    // A secret is known later, but before the user is made.
    const checked = isPlain(password)
      ? password
      : checkedLater(password, (value) => checkUserPassword(`${place}.password`, value));
    return { user: login, password: checked };
  });
  const twice = logins.find((login, index) => logins.findIndex(({ user: other }) => other === login.user) !== index);
  if (twice !== undefined) {
    throw new DelayTopologyError("credentials", twice.user, "each login needs a suffix of its own");
  }
  return logins;
}

/** The users of a process, which may have none. @throws DelayTopologyError */
export function processLogins(user: string | undefined, credentials: EndpointCredential[] | undefined): Login[] {
  if (user !== undefined) return checkCredentials({ user, credentials: credentials as EndpointCredential[] });
  if (credentials === undefined) return [];
  throw new DelayTopologyError("user", user, "credentials need the user's name");
}

/**
 * Claims of the name that logins start with, and of each login: `orders-eu` may be a user of another owner's, too, who has no login
 * but that.
 */
export function claimsOf(user: string, logins: readonly Login[], owner: string): OwnershipPlan[] {
  const names = new Set([user, ...logins.map((login) => login.user)]);
  return [...names].map((name) => planOwnership("user", name, owner));
}

/** Where and what a login may do. */
export interface LoginRights {
  vhost: pulumi.Input<string>;
  access: pulumi.Output<AccessPlan>;
  /** Whether the plan limits routing keys, too. */
  isLimited: boolean;
  /** Known once nothing speaks against making users; those have no vhost to wait for. */
  ready: pulumi.Output<void>;
}

/** A login, known once it may do what it has to. */
export interface DeclaredLogin {
  user: pulumi.Output<string>;
  password: pulumi.Output<string>;
}

/** Makes a user with its permissions, and its password where none was given. */
export function declareLogin(
  name: string,
  { user, password: given }: Login,
  { vhost, access, isLimited, ready: mayStart }: LoginRights,
  options: pulumi.CustomResourceOptions,
): DeclaredLogin {
  const password = pulumi.secret(given ?? generated(`${name}-${user}`, { parent: options.parent }));
  // What replaces a user or its rights has their names, so the old ones have to go first.
  const replaced = { ...options, deleteBeforeReplace: true };
  const account = new rabbitmq.User(
    `${name}-${user}`,
    { name: mayStart.apply(() => user), password, tags: access.apply((plan) => plan.tags) },
    replaced,
  );
  const { configure, write, read } = {
    configure: access.apply((plan) => plan.configure),
    write: access.apply((plan) => plan.write),
    read: access.apply((plan) => plan.read),
  };
  const permissions = new rabbitmq.Permissions(
    `${name}-${user}`,
    { user: account.name, vhost, permissions: { configure, write, read } },
    replaced,
  );
  const topics = isLimited
    ? new rabbitmq.TopicPermissions(
        `${name}-${user}`,
        { user: account.name, vhost, permissions: access.apply((plan) => plan.topics) },
        replaced,
      )
    : undefined;
  const ready = pulumi.all([account.name, permissions.id, topics?.id ?? ""]);
  return { user: ready.apply(([made]) => made), password: pulumi.all([password, ready]).apply(([known]) => known) };
}
