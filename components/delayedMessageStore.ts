import * as pulumi from "@pulumi/pulumi";
import { DelayedStore, delayedStore, planDelayedStore } from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies, planStoreAccess, readBeside, withNameAs } from "@rabbitmq-delay/topology/stack";
import { checkFlag, checkList } from "./checks";
import { Declarer, declareEntities } from "./declare";
import { DeliveryType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { EndpointCredential, claimsOf, declareLogin, processLogins } from "./logins";
import { lookFirst } from "./look";
import { warnOfNarrowing } from "./narrowed";
import { declareDeployment } from "./process/deployment";
import { StoreDeploymentArgs, storeProcess } from "./process/storeDeployment";
import { isReplaced, removalOptions } from "./removal";
import { thisStack } from "./thisStack";

/** An exchange that delayed messages are published to as if it delayed them itself, as the archived plugin's did. */
export interface StoreForwardArgs {
  /** What publishers publish to, with the header `x-delay`. */
  exchange: string;
  /** Where due messages go, under the routing key that they were published with; bind queues here. */
  delivery: string;
  /** Type of the delivery exchange, as `x-delayed-type` was: `topic` (default), `direct`, `fanout` or `headers`. */
  type?: DeliveryType;
  /** Whether both exchanges are declared here; default true. False for those of a `DelayedExchange` whose `otherwise` is the store's intake exchange. */
  declare?: boolean;
}

/** The broker's side of an external store of delayed messages. */
export interface DelayedMessageStoreArgs {
  /** Name of the store and of its intake exchange, default `delayed`; its queues are `NAME.intake`, `NAME.error`, `NAME.control`. */
  storeName?: string;
  /** Exchanges that stand for a delayed exchange each; default none. */
  forwards?: StoreForwardArgs[];
  /** Whether messages may go to any queue of the vhost, by the default exchange; default true. */
  toQueues?: boolean;
  /** Exchanges of others that messages may name in the header `x-deliver-exchange`; default none. */
  exchanges?: string[];
  /** Name of the user that the store's process logs in as; default: no user is made. */
  user?: string;
  /** Its login, or two while its password changes; needed with `user`. */
  credentials?: EndpointCredential[];
  /** What this stack was called before, e.g. `orders/prod`: the claims that it made on its users by that name are its own. */
  formerOwners?: string[];
  /**
   * Whether a user that is on the broker already is taken over, with a new password, without its tags, and to be deleted with this
   * stack; default false: one that this stack has not claimed is refused. It is needed for one update.
   */
  adopt?: boolean;
  /** The store's process on Kubernetes; default: it runs elsewhere, by `rabbitmq-delay store run`. Needs `user`. */
  deployment?: StoreDeploymentArgs;
  /** What happens to exchanges and queues that leave the program: `retain` (default) or `delete`. */
  removal?: Removal;
  /** The vhost; default `/`. */
  vhost?: pulumi.Input<string>;
  /**
   * The broker's version where the program knows it, e.g. `4.3.6`. From 4.0 a policy lifts the delivery limit that each quorum
   * queue has there (20); before 4.0 there is none to lift. Default: not known, and the limit is set, by policy, so high
   * (2,147,483,647) that no message reaches it, which brokers of all versions take.
   */
  brokerVersion?: string;
}

/** A store's descriptor in types that every Pulumi language has; its meaning is that of `DelayedStore`. */
export interface DelayedStoreDescriptor {
  /** Always `delayed-store`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** Name of the store and of its intake exchange. */
  name: string;
  /** The queue that the store takes messages from. */
  intakeQueue: string;
  /** The exchange and the queue for what can't be stored or delivered. */
  errorQueue: string;
  /** The exchange and the queue for cancellations and queries. */
  controlQueue: string;
  /** Exchanges that stand for a delayed exchange each. */
  forwards: StoreForwardDescriptor[];
  /** Whether messages may go to queues, by the default exchange. */
  toQueues: boolean;
  /** Further exchanges that messages may name. */
  exchanges: string[];
}

/** See `StoreForwardArgs`. */
export interface StoreForwardDescriptor {
  /** What publishers publish to. */
  exchange: string;
  /** Where due messages go. */
  delivery: string;
  /** Type of the delivery exchange. */
  type: string;
  /** False where others declare both exchanges. */
  declare?: boolean;
}

/**
 * What `rabbitmq-delay store run` needs on the broker: intake, error and control queues with their exchanges, and a user that
 * may consume the first and the last, publish where messages go, and do nothing else.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import * as pulumi from "@pulumi/pulumi";
 * import { DelayedMessageStore } from "pulumi-rabbitmq-delay";
 *
 * const password = new pulumi.Config().requireSecret("storePassword");
 * const store = new DelayedMessageStore("store", { user: "delayed-store", credentials: [{ password }] });
 * export const delayedStore = store.delayedStore;
 * ```
 */
export class DelayedMessageStore extends pulumi.ComponentResource {
  /** The descriptor, for `rabbitmq-delay store run --descriptor`. */
  public readonly delayedStore: pulumi.Output<DelayedStoreDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly delayedStoreJson: pulumi.Output<string>;
  /** Names of the store's users, in the order of the credentials; known when their permissions are there. */
  public readonly users: pulumi.Output<string[]>;
  /** Their passwords in the same order, given or generated; secret. */
  public readonly passwords: pulumi.Output<string[]>;

  constructor(name: string, args: DelayedMessageStoreArgs, opts?: pulumi.ComponentResourceOptions) {
    const given = givenArguments(args);
    const { vhost, removal, brokerVersion, storeName, user, credentials, formerOwners, adopt, ...part } = given;
    const { deployment, ...shape } = part;
    checkList("formerOwners", formerOwners);
    checkFlag("adopt", adopt);
    const options = storeName === undefined ? shape : { ...shape, name: storeName };
    const descriptor = readBeside(BESIDE_SHAPE, () => delayedStore(options, withNameAs("storeName")));
    const logins = processLogins(user, credentials);
    const guarded = removalOptions(removal);
    const plan = planDelayedStore(descriptor);
    const policies = deliveryLimitPolicies(plan.queues, { brokerVersion });
    const run = deployment === undefined ? undefined : storeProcess(deployment, logins.length > 0);
    super("rabbitmq-delay:index:DelayedMessageStore", name, {}, opts);

    const claims = user === undefined ? [] : claimsOf(user, logins, thisStack());
    const users = logins.map((login) => login.user);
    const owned = { claims, formerOwners, adopt, users, makesUsers: logins.length > 0 };
    const errorQueues = [descriptor.errorQueue];
    const wanted = { ...plan, ...owned, errorQueues, policies, brokerVersion, replaceable: isReplaced(removal) };
    const { vhost: place, ready: mayStart } = lookFirst(this, vhost, wanted);
    const looked = new Declarer(name, place, { ...guarded, parent: this });
    const declarer = looked.after(warnOfNarrowing("delayedStore", name, descriptor).then(() => looked.checkPlan(plan)));
    const set = policies.map((policy) => declarer.policy(policy));
    const ready = declareEntities(plan, () => declarer, set);
    const rights = {
      vhost: place,
      access: pulumi.output(planStoreAccess(descriptor)),
      isLimited: false,
      ready: mayStart,
    };

    const claimed = claims.map((claim) => new Declarer(name, place, { parent: this }).claim(claim));
    const made = logins.map((login) => declareLogin(name, login, rights, { parent: this, dependsOn: claimed }));
    // Of two logins, the last is the one that stays.
    const login = made.at(-1);
    if (run !== undefined && login !== undefined) {
      declareDeployment(name, run, descriptor, { ...login, vhost: place }, { parent: this });
    }

    this.delayedStore = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.delayedStoreJson = pulumi.jsonStringify(this.delayedStore);
    this.users = pulumi.all(made.map((one) => one.user));
    this.passwords = pulumi.secret(pulumi.all(made.map((one) => one.password)));
    this.registerOutputs({
      delayedStore: this.delayedStore,
      delayedStoreJson: this.delayedStoreJson,
      users: this.users,
      passwords: this.passwords,
    });
  }
}

/** Names of the arguments that are read beside the store's shape. */
const BESIDE_SHAPE = [
  "vhost",
  "removal",
  "brokerVersion",
  "storeName",
  "user",
  "credentials",
  "formerOwners",
  "adopt",
  "deployment",
];

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: DelayedStore): DelayedStoreDescriptor {
  return descriptor;
}
