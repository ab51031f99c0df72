import * as pulumi from "@pulumi/pulumi";
import { parseDelayNetwork, parseRetryDescriptor } from "@rabbitmq-delay/topology";
import { AccessPlan, planAccess, readUser } from "@rabbitmq-delay/topology/stack";
import { Declarer } from "./declare";
import { JoinedNetwork, descriptorOf } from "./descriptor";
import { isPlain, joinedVhost, joiningOptions } from "./joinedNetwork";
import type { EndpointClient, RoutingTopology } from "./enums";
import { givenArguments, readArguments } from "./knownArguments";
import { checkedLater } from "./laterValues";
import { EndpointCredential, checkCredentials, claimsOf, declareLogin } from "./logins";
import { lookFirst } from "./look";
import { thisStack } from "./thisStack";

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
  /**
   * The network that it publishes delayed messages into: a topology of the same program, or a descriptor out of another stack, also as JSON
   * text.
   */
  network?: JoinedNetwork;
  /** Endpoints that it may send delayed messages to, beside its own queues; default: any of the network. */
  destinations?: string[];
  /** Descriptors of what its failed messages come back by, or their JSON texts: interval queues, work queues, delayed retry queues. */
  retries?: pulumi.Input<any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- one of several: the schema takes no unions
  /** Further exchanges that it publishes to, e.g. the `errorExchange` of its `consumeWithRetries`. */
  publishes?: string[];
  /**
   * Its error queue, as `EndpointDelayBinding` declares it: an exchange and a queue of this name. Messages that used up their tries
   * are published to the exchange, because the default exchange, which reaches every queue, is closed to the user.
   */
  errorQueue?: string;
  /**
   * Whose client the service uses. `celery` may declare what a worker declares when it starts, the network and its queues, or a sender
   * before it sends, `destinations`, which must be given. `nservicebus` gets the tag `management`, and may bind and publish to the exchanges of its queues and of
   * `destinations`, which must then be given. `masstransit` may declare what it declares by itself: its queues, their `_error` and
   * `_skipped`, the exchanges of `messageTypes`, and the network's entry exchanges. Default: none that asks for more than publishing and
   * consuming.
   */
  client?: EndpointClient;
  /** With a client: the exchanges of the message types, or events, that it publishes or subscribes to, e.g. `Shop.Orders:OrderPlaced`. */
  messageTypes?: string[];
  /**
   * With `client: nservicebus`: `conventional` (default), or `direct`, which sends by the default exchange, and so may send to every queue
   * of the vhost.
   */
  routingTopology?: RoutingTopology;
  /** Whose the user is: another owner of its name is refused. Default: this stack. */
  owner?: string;
  /** What this stack, or its `owner`, was called before, e.g. `billing/prod`: claims of these owners are taken for its own. */
  formerOwners?: string[];
  /**
   * Whether a user that is on the broker already is taken over, with a new password, without its tags, and to be deleted with this
   * stack; default false: one that this stack has not claimed is refused. It is needed for one update.
   */
  adopt?: boolean;
  /** The vhost, which is the only one that it sees; default the network's, and `/` without one. Another than the network's is refused. */
  vhost?: pulumi.Input<string>;
}

/**
 * A user of a service that may do what the service does and nothing else: publish into the network's entry exchanges and
 * its own retries, and consume its own queues. It sees no other vhost, declares nothing and reads no level queue, unless its
 * `client` can't do without.
 * Throws a DelayTopologyError, before anything is made where values are known by then, that names the refused property.
 * @example
 * ```ts
 * import { DelayLevelTopology, EndpointUser } from "pulumi-rabbitmq-delay";
 *
 * const network = new DelayLevelTopology("delay", { preset: "custom", prefix: "orders" });
 * const billing = new EndpointUser("billing", { user: "billing", credentials: [{}], consumes: ["Billing"], network });
 * export const passwords = billing.passwords;
 * ```
 */
export class EndpointUser extends pulumi.ComponentResource {
  /** Names of the users, in the order of the credentials; known when their permissions are there. */
  public readonly users: pulumi.Output<string[]>;
  /** Their passwords in the same order, given or generated; secret. */
  public readonly passwords: pulumi.Output<string[]>;

  constructor(name: string, args: EndpointUserArgs, opts?: pulumi.ComponentResourceOptions) {
    args = givenArguments(args);
    readArguments(args, readUser, INPUTS);
    const logins = checkCredentials(args);
    const access = planOf(args);
    const claims = claimsOf(args.user, logins, args.owner ?? thisStack());
    const joined = joinedVhost(args);
    super("rabbitmq-delay:index:EndpointUser", name, {}, joiningOptions(args, opts));

    const { formerOwners, adopt } = args;
    const users = logins.map(({ user }) => user);
    const { vhost, ready } = lookFirst(this, joined, { claims, formerOwners, adopt, users, makesUsers: true });
    const claimed = claims.map((plan) => new Declarer(name, vhost, { parent: this }).claim(plan));
    const isLimited = args.network !== undefined && args.destinations !== undefined;
    const rights = { vhost, access, isLimited, ready };
    const made = logins.map((login) => declareLogin(name, login, rights, { parent: this, dependsOn: claimed }));
    this.users = pulumi.all(made.map(({ user }) => user));
    this.passwords = pulumi.secret(pulumi.all(made.map(({ password }) => password)));
    this.registerOutputs({ users: this.users, passwords: this.passwords });
  }
}

/** What may be known later; each login is read by itself. */
const INPUTS = { later: ["network", "vhost"], holders: ["retries"], unchecked: ["credentials"] };

/** Plans at once what is known when the program runs, so that a mistake shows before the first resource. */
function planOf(args: EndpointUserArgs): pulumi.Output<AccessPlan> {
  const { consumes, destinations, publishes, errorQueue, client, messageTypes, routingTopology, retries = [] } = args;
  const network = args.network === undefined ? undefined : descriptorOf(args.network);
  const plan = (descriptor: unknown, mechanisms: unknown[]): AccessPlan =>
    planAccess({
      consumes,
      destinations,
      publishes,
      errorQueue,
      client,
      messageTypes,
      routingTopology,
      network: descriptor === undefined ? undefined : parseDelayNetwork(descriptor),
      retries: mechanisms.map((mechanism, index) => parseRetryDescriptor(mechanism, `retries[${index}]`)),
    });
  if ([network, ...retries].every(isPlain)) return pulumi.output(plan(network, retries));
  return checkedLater(pulumi.all([network, pulumi.all(retries)]), ([descriptor, mechanisms]) =>
    plan(descriptor, mechanisms),
  );
}
