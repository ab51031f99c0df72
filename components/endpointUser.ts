import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import {
  AccessPlan,
  DelayTopologyError,
  parseDelayNetwork,
  parseRetryDescriptor,
  planAccess,
} from "rabbitmq-delay-topology";
import type { DelayNetworkDescriptor } from "./descriptor";

/** One login of a service. A service has two while its password changes. */
export interface EndpointCredential {
  /** What tells it from the other, e.g. `a` and `b`, or a year. The user is `NAME-SUFFIX`; left out, it is the name. */
  suffix?: string;
  /** At least 12 characters; give a secret. */
  password: pulumi.Input<string>;
}

/** What a service does on the broker, and its logins. */
export interface EndpointUserArgs {
  /** Name of the user, or start of it where credentials have suffixes. */
  user: string;
  /**
   * One login, or two while a password changes: add the second, give it to the services, and then take the first away. None of
   * them is without its rights at any time.
   */
  credentials: EndpointCredential[];
  /** Queues that it consumes. */
  consumes?: string[];
  /** The network that it publishes delayed messages into, of the same program or out of another stack. */
  network?: pulumi.Input<DelayNetworkDescriptor>;
  /** Endpoints that it may send delayed messages to, beside its own queues; default: any of the network. */
  destinations?: string[];
  /** Descriptors of what its failed messages come back by: interval queues, work queues, delayed retry queues. */
  retries?: pulumi.Input<any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- one of several: the schema takes no unions
  /** Further exchanges that it publishes to. */
  publishes?: string[];
  /** The vhost, which is the only one that it sees; default `/`. */
  vhost?: pulumi.Input<string>;
}

/** Shortest password that is taken. */
const SHORTEST_PASSWORD = 12;

/** The provider separates the parts of its ids by `@` and `/`. */
const USER_NAME = /^[^@/\s]{1,200}$/;
const USER_NAME_RULE = "the name must have 1 to 200 characters, without spaces, @ and /";

/**
 * A user of a service that may do what the service does and nothing else: publish into the network's entry exchanges and
 * its own retries, and consume its own queues. It declares nothing, reads no level queue, and sees no other vhost.
 * Throws a DelayTopologyError, before anything is made where values are known by then, that names the refused property.
 */
export class EndpointUser extends pulumi.ComponentResource {
  /** Names of the users, in the order of the credentials; known when their permissions are there. */
  public readonly users: pulumi.Output<string[]>;

  constructor(name: string, args: EndpointUserArgs, opts?: pulumi.ComponentResourceOptions) {
    const logins = checkCredentials(args);
    const access = planOf(args);
    super("rabbitmq-delay:index:EndpointUser", name, {}, opts);

    const vhost = args.vhost ?? "/";
    const ready = logins.map(({ user, password }) => declareLogin(this, name, { user, password, vhost, access, args }));
    this.users = pulumi.all(ready);
    this.registerOutputs({ users: this.users });
  }
}

interface Login {
  user: string;
  password: pulumi.Input<string>;
}

function checkCredentials({ user, credentials }: EndpointUserArgs): Login[] {
  if (typeof user !== "string" || !USER_NAME.test(user)) throw new DelayTopologyError("user", user, USER_NAME_RULE);
  if (!Array.isArray(credentials) || credentials.length === 0) {
    throw new DelayTopologyError("credentials", credentials, "it must be a list of at least one login");
  }
  const logins = credentials.map(({ suffix, password }, index) => {
    if (password === undefined || password === "") {
      throw new DelayTopologyError(`credentials[${index}].password`, password, "it must be a secret");
    }
    const login = suffix === undefined ? user : `${user}-${suffix}`;
    if (!USER_NAME.test(login)) throw new DelayTopologyError(`credentials[${index}].suffix`, suffix, USER_NAME_RULE);
    // A secret is known later, but before the user is made.
    const checked =
      typeof password === "string"
        ? checkPassword(index, password)
        : pulumi.output(password).apply((value) => checkPassword(index, value));
    return { user: login, password: checked };
  });
  const twice = logins.find((login, index) => logins.findIndex(({ user: other }) => other === login.user) !== index);
  if (twice !== undefined) {
    throw new DelayTopologyError("credentials", twice.user, "each login needs a suffix of its own");
  }
  return logins;
}

/** A password itself is in no message. */
function checkPassword(index: number, password: string): string {
  if (password.length >= SHORTEST_PASSWORD) return password;
  const allowed = `it must have at least ${SHORTEST_PASSWORD} characters`;
  throw new DelayTopologyError(`credentials[${index}].password`, `${password.length} characters`, allowed);
}

/** Plans at once what is known when the program runs, so that a mistake shows before the first resource. */
function planOf(args: EndpointUserArgs): pulumi.Output<AccessPlan> {
  const { consumes, destinations, publishes, network, retries = [] } = args;
  const plan = (descriptor: unknown, mechanisms: unknown[]): AccessPlan =>
    planAccess({
      consumes,
      destinations,
      publishes,
      network: descriptor === undefined ? undefined : parseDelayNetwork(descriptor),
      retries: mechanisms.map((mechanism, index) => parseRetryDescriptor(mechanism, `retries[${index}]`)),
    });
  const isKnown = [network, ...retries].every(
    (input) => !pulumi.Output.isInstance(input) && !(input instanceof Promise),
  );
  if (isKnown) return pulumi.output(plan(network, retries));
  return pulumi.all([network, pulumi.all(retries)]).apply(([descriptor, mechanisms]) => plan(descriptor, mechanisms));
}

interface LoginPlan extends Login {
  vhost: pulumi.Input<string>;
  access: pulumi.Output<AccessPlan>;
  args: EndpointUserArgs;
}

/** @returns the user's name, once it may do what it has to */
function declareLogin(parent: pulumi.Resource, name: string, login: LoginPlan): pulumi.Output<string> {
  const { user, password, vhost, access, args } = login;
  const options = { parent };
  const account = new rabbitmq.User(
    `${name}-${user}`,
    { name: user, password: pulumi.secret(password), tags: [] },
    options,
  );
  const { configure, write, read } = {
    configure: access.apply((plan) => plan.configure),
    write: access.apply((plan) => plan.write),
    read: access.apply((plan) => plan.read),
  };
  const permissions = new rabbitmq.Permissions(
    `${name}-${user}`,
    { user: account.name, vhost, permissions: { configure, write, read } },
    options,
  );
  const isLimited = args.network !== undefined && args.destinations !== undefined;
  const topics = isLimited
    ? new rabbitmq.TopicPermissions(
        `${name}-${user}`,
        { user: account.name, vhost, permissions: access.apply((plan) => plan.topics) },
        options,
      )
    : undefined;
  return pulumi.all([account.name, permissions.id, topics?.id ?? ""]).apply(([made]) => made);
}
