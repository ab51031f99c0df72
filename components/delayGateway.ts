import * as pulumi from "@pulumi/pulumi";
import { DelayGateway as DelayGatewayPlain, DelayNetwork, Endpoint, delayGateway } from "@rabbitmq-delay/topology";
import {
  GatewayQueues,
  deliveryLimitPolicies,
  gatewayQueues,
  planGatewayAccess,
  planGatewayQueues,
  planOwnership,
  withNameAs,
  readBeside,
} from "@rabbitmq-delay/topology/stack";
import { checkFlag, checkList } from "./checks";
import { Declarer, declareEntities } from "./declare";
import type { StoreForwardArgs, StoreForwardDescriptor } from "./delayedMessageStore";
import { DelayNetworkDescriptor, JoinedNetwork, descriptorOf } from "./descriptor";
import { PlannedBinding, boundTo, checkBindings, declareBindings, planReturns, whenKnown } from "./endpointBindings";
import type { Removal } from "./enums";
import { joinedVhost, joiningOptions } from "./joinedNetwork";
import { givenArguments } from "./knownArguments";
import { knownNetwork } from "./knownNetworks";
import { EndpointCredential, claimsOf, declareLogin, processLogins } from "./logins";
import { lookFirst } from "./look";
import { warnOfNarrowing } from "./narrowed";
import { declareDeployment } from "./process/deployment";
import { GatewayDeploymentArgs, gatewayProcess } from "./process/gatewayDeployment";
import { isReplaced, removalOptions } from "./removal";
import { thisStack } from "./thisStack";

/** The broker's side of a gateway. */
export interface DelayGatewayArgs {
  /**
   * The network that messages wait in: a `DelayLevelTopology` of the same program or its `network`, or a descriptor out of another stack,
   * also as JSON text.
   */
  network: JoinedNetwork;
  /**
   * Networks that lead back to the gateway, too: those that messages still wait in, e.g. the one before, until it is empty. Each is a topology
   * of the same program, a plain descriptor or its JSON text. Default none.
   */
  furtherNetworks?: JoinedNetwork[];
  /** Name of the gateway and of its intake exchange, default `gateway`; its queues are `NAME.intake`, `NAME.return`, `NAME.error`. */
  gatewayName?: string;
  /** Exchanges that stand for a delayed exchange each; default none. */
  forwards?: StoreForwardArgs[];
  /** Whether messages may go to any queue of the vhost, by the default exchange; default true. */
  toQueues?: boolean;
  /** Exchanges of others that messages may name in the header `x-deliver-exchange`; default none. */
  exchanges?: string[];
  /**
   * Whether one process at a time takes messages, and the others stand by, so that messages of one exchange and delay, up to the network's longest, keep their order;
   * default false. A change needs new queues, and so another name.
   */
  singleActiveConsumer?: boolean;
  /** Name of the user that the gateway's process logs in as; default: no user is made. */
  user?: string;
  /** Its login, or two while its password changes; needed with `user`. */
  credentials?: EndpointCredential[];
  /** What this stack was called before, e.g. `orders/prod`: the claims that it made by that name are its own. */
  formerOwners?: string[];
  /**
   * Whether a user that is on the broker already is taken over, with a new password, without its tags, and to be deleted with this
   * stack; default false: one that this stack has not claimed is refused. It is needed for one update.
   */
  adopt?: boolean;
  /** The gateway's process on Kubernetes; default: it runs elsewhere, by `rabbitmq-delay gateway run`. Needs `user`. */
  deployment?: GatewayDeploymentArgs;
  /** What happens to exchanges and queues that leave the program: `retain` or `delete`. Default: that of the topology, else `retain`. */
  removal?: Removal;
  /** The vhost; default the network's. Another than the network's is refused. */
  vhost?: pulumi.Input<string>;
  /**
   * The broker's version where the program knows it, e.g. `4.3.6`. From 4.0 a policy lifts the delivery limit that each quorum
   * queue has there (20); before 4.0 there is none to lift. Default: not known, and the limit is set, by policy, so high
   * (2,147,483,647) that no message reaches it, which brokers of all versions take.
   */
  brokerVersion?: string;
}

/** A gateway's descriptor in types that every Pulumi language has; its meaning is that of the pure core's `DelayGateway`. */
export interface DelayGatewayDescriptor {
  /** Always `delay-gateway`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** Name of the gateway and of its intake exchange. */
  name: string;
  /** The queue that the gateway takes messages from. */
  intakeQueue: string;
  /** The exchange and the queue for what can't be read or delivered. */
  errorQueue: string;
  /** The queue that messages come back to from the network. */
  returnQueue: string;
  /** Exchanges that stand for a delayed exchange each. */
  forwards: StoreForwardDescriptor[];
  /** Whether messages may go to queues, by the default exchange. */
  toQueues: boolean;
  /** Further exchanges that messages may name. */
  exchanges: string[];
  /** Whether one process at a time takes messages. */
  singleActiveConsumer: boolean;
  /** The network that messages wait in. */
  network: DelayNetworkDescriptor;
}

/**
 * What `rabbitmq-delay gateway run` needs on the broker: an intake queue, a queue that the network leads back to, an error queue, the exchanges
 * in front of them, and a user of least rights. Messages with any `x-delay` then wait in the network, without a database.
 * Throws a DelayTopologyError, before anything is made where the network is known by then, that names the refused property, its value and
 * what is allowed.
 * @example
 * ```ts
 * import { DelayGateway, DelayLevelTopology } from "pulumi-rabbitmq-delay";
 *
 * const network = new DelayLevelTopology("delay", { preset: "custom", prefix: "orders" });
 * const gateway = new DelayGateway("gateway", { network, user: "delay-gateway", credentials: [{}] });
 * export const delayGateway = gateway.delayGateway;
 * ```
 */
export class DelayGateway extends pulumi.ComponentResource {
  /** The descriptor, for `rabbitmq-delay gateway run --descriptor`, known when all is there. */
  public readonly delayGateway: pulumi.Output<DelayGatewayDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly delayGatewayJson: pulumi.Output<string>;
  /** Names of the gateway's users, in the order of the credentials; known when their permissions are there. */
  public readonly users: pulumi.Output<string[]>;
  /** Their passwords in the same order, given or generated; secret. */
  public readonly passwords: pulumi.Output<string[]>;

  constructor(name: string, args: DelayGatewayArgs, opts?: pulumi.ComponentResourceOptions) {
    const given = givenArguments(args);
    const {
      network,
      furtherNetworks = [],
      vhost,
      brokerVersion,
      gatewayName,
      user,
      credentials,
      formerOwners,
      adopt,
      ...part
    } = given;
    const { deployment, removal = knownNetwork(network)?.removal, ...shape } = part;
    checkList("formerOwners", formerOwners);
    checkFlag("adopt", adopt);
    const options = gatewayName === undefined ? shape : { ...shape, name: gatewayName };
    const source = withNameAs("gatewayName");
    const queues = readBeside(BESIDE_SHAPE, () => gatewayQueues(options, source));
    const checked = whenKnown(plainOrDescriptor(network), (value) =>
      delayGateway({ ...options, network: value }, source),
    );
    const endpoint: Endpoint = { name: queues.returnQueue };
    const joining = { endpoint: endpoint.name, network };
    checkList("furtherNetworks", furtherNetworks);
    const returned = planReturns(network, furtherNetworks, endpoint.name);
    const logins = processLogins(user, credentials);
    const run = deployment === undefined ? undefined : gatewayProcess(deployment, logins.length > 0);
    const joined = joinedVhost({ network, furtherNetworks, vhost });
    const guarded = removalOptions(removal);
    const plan = planGatewayQueues(queues);
    const policies = deliveryLimitPolicies(plan.queues, { brokerVersion });
    super("rabbitmq-delay:index:DelayGateway", name, {}, joiningOptions({ network }, opts));

    const owner = thisStack();
    const users = user === undefined ? [] : claimsOf(user, logins, owner);
    const own = planOwnership("endpoint", endpoint.name, owner);
    const { vhost: place, ready: mayStart } = lookFirst(this, joined, {
      errorQueues: [queues.errorQueue],
      ...plan,
      bindings: [...plan.bindings, ...returned.map((binding) => pulumi.output(boundTo(binding, joining)))],
      endpoint: returned[0]?.plan,
      claims: [own, ...users],
      formerOwners,
      adopt,
      users: logins.map((login) => login.user),
      makesUsers: logins.length > 0,
      policies,
      brokerVersion,
      replaceable: isReplaced(removal),
    });
    // The network of this program in its own form does not know its vhost.
    const descriptor = pulumi
      .all([checked, place])
      .apply(([gateway, known]) => ({ ...gateway, network: { ...gateway.network, vhost: known } }));
    const looked = new Declarer(name, place, { ...guarded, parent: this });
    const declarer = looked.after(this.checkAll(name, place, looked.checkPlan(plan), returned, joining, queues));
    const claim = declarer.claim(own);
    const set = policies.map((policy) => declarer.policy(policy));
    const ready = declareEntities(plan, () => declarer, set, [endpoint.name]);
    const bound = pulumi.all(ready).apply(() => endpoint.name);
    const back = declareBindings(new Declarer(name, place, { parent: this, dependsOn: [claim] }), returned, bound);

    const access = descriptor.apply(planGatewayAccess);
    const claimed = users.map((one) => new Declarer(name, place, { parent: this }).claim(one));
    const rights = { vhost: place, access, isLimited: false, ready: mayStart };
    const made = logins.map((login) => declareLogin(name, login, rights, { parent: this, dependsOn: claimed }));
    // Of two logins, the last is the one that stays.
    const login = made.at(-1);
    if (run !== undefined && login !== undefined) {
      declareDeployment(name, run, descriptor, { ...login, vhost: place }, { parent: this }, back);
    }

    this.delayGateway = pulumi
      .all([descriptor, pulumi.all(ready), pulumi.all(back.map(({ id }) => id))])
      .apply(([known]) => toDescriptor(known));
    this.delayGatewayJson = pulumi.jsonStringify(this.delayGateway);
    this.users = pulumi.all(made.map((one) => one.user));
    this.passwords = pulumi.secret(pulumi.all(made.map((one) => one.password)));
    this.registerOutputs({
      delayGateway: this.delayGateway,
      delayGatewayJson: this.delayGatewayJson,
      users: this.users,
      passwords: this.passwords,
    });
  }

  private async checkAll(
    name: string,
    place: pulumi.Output<string>,
    checked: Promise<void>,
    returned: PlannedBinding[],
    joining: { endpoint: string; network: JoinedNetwork },
    queues: GatewayQueues,
  ): Promise<void> {
    await warnOfNarrowing("delayGateway", name, queues);
    await checkBindings(new Declarer(name, place, { parent: this }), returned, joining);
    await checked;
  }
}

/** The network of this program in its own form, or the descriptor that was given. */
function plainOrDescriptor(network: JoinedNetwork): pulumi.Input<DelayNetworkDescriptor | string | DelayNetwork> {
  return knownNetwork(network)?.network ?? (network === undefined ? network : descriptorOf(network));
}

/** Names of the arguments that are read beside the gateway's shape. */
const BESIDE_SHAPE = [
  "network",
  "furtherNetworks",
  "vhost",
  "brokerVersion",
  "gatewayName",
  "user",
  "credentials",
  "formerOwners",
  "adopt",
  "deployment",
  "removal",
];

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: DelayGatewayPlain): DelayGatewayDescriptor {
  return descriptor;
}
