import * as pulumi from "@pulumi/pulumi";
import {
  AccessPlan,
  OwnershipPlan,
  parseDelayNetwork,
  parseRetryDescriptor,
  planAccess,
  planOwnership,
} from "rabbitmq-delay-topology";
import { Declarer } from "./declare";
import type { DelayNetworkDescriptor } from "./descriptor";
import { EndpointCredential, checkCredentials, declareLogin } from "./logins";
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
  /** The network that it publishes delayed messages into, of the same program or out of another stack. */
  network?: pulumi.Input<DelayNetworkDescriptor>;
  /** Endpoints that it may send delayed messages to, beside its own queues; default: any of the network. */
  destinations?: string[];
  /** Descriptors of what its failed messages come back by: interval queues, work queues, delayed retry queues. */
  retries?: pulumi.Input<any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- one of several: the schema takes no unions
  /** Further exchanges that it publishes to. */
  publishes?: string[];
  /** Whose the user is: the broker refuses another owner of its name. Default: this stack, where the network comes from another one. */
  owner?: string;
  /** The vhost, which is the only one that it sees; default `/`. */
  vhost?: pulumi.Input<string>;
}

/**
 * A user of a service that may do what the service does and nothing else: publish into the network's entry exchanges and
 * its own retries, and consume its own queues. It declares nothing, reads no level queue, and sees no other vhost.
 * Throws a DelayTopologyError, before anything is made where values are known by then, that names the refused property.
 */
export class EndpointUser extends pulumi.ComponentResource {
  /** Names of the users, in the order of the credentials; known when their permissions are there. */
  public readonly users: pulumi.Output<string[]>;
  /** Their passwords in the same order, given or generated; secret. */
  public readonly passwords: pulumi.Output<string[]>;

  constructor(name: string, args: EndpointUserArgs, opts?: pulumi.ComponentResourceOptions) {
    const logins = checkCredentials(args);
    const access = planOf(args);
    const claim = planClaim(args);
    super("rabbitmq-delay:index:EndpointUser", name, {}, opts);

    const vhost = args.vhost ?? "/";
    const claimed = claim === undefined ? [] : [new Declarer(name, vhost, { parent: this }).exchange(claim)];
    const isLimited = args.network !== undefined && args.destinations !== undefined;
    const rights = { vhost, access, isLimited };
    const made = logins.map((login) => declareLogin(name, login, rights, { parent: this, dependsOn: claimed }));
    this.users = pulumi.all(made.map(({ user }) => user));
    this.passwords = pulumi.secret(pulumi.all(made.map(({ password }) => password)));
    this.registerOutputs({ users: this.users, passwords: this.passwords });
  }
}

function planClaim({ owner, network, user }: EndpointUserArgs): OwnershipPlan | undefined {
  if (owner === undefined && !pulumi.Output.isInstance(network)) return undefined;
  return planOwnership("user", user, owner ?? thisStack());
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
