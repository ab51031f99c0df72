import * as pulumi from "@pulumi/pulumi";
import { DelayNetworkOptions, delayNetwork, parkingPolicy, planEntities } from "@rabbitmq-delay/topology";
import { adoptedNetwork, networkLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import { checkFlag } from "./checks";
import { Declarer, declareEntities } from "./declare";
import { DelayNetworkDescriptor, toDescriptor } from "./descriptor";
import { Matching, Preset, QueueType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { rememberNetwork } from "./knownNetworks";
import { vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";

/** What a delay network is made from. */
export interface DelayLevelTopologyArgs {
  /** Names and arguments of a vendor: `nservicebus`, `nservicebus-v1`, `celery` or `custom`. */
  preset: Preset;
  /** Start of all names; needed for `custom`, optional for `celery`, fixed for the others. */
  prefix?: string;
  /** Digits per level: 2, 4, 8 or 16; `custom` only, default 4. A higher radix means fewer hops and less lateness. */
  radix?: number;
  /** Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer. */
  levels?: number;
  /** Smallest delay in milliseconds; `custom` only, default 1000. */
  unitMs?: number;
  /** `quorum` (default) or `classic`; `custom` and `celery` only. */
  queueType?: QueueType;
  /** `exact` (default), `suffix`, or, for NServiceBus's presets, `enforced`: exact even though its senders bind by suffix. */
  matching?: Matching;
  /** Whether what no binding takes is kept in a parking queue; default true. Without it such a message stalls its level. */
  parking?: boolean;
  /**
   * What happens on the broker when the network leaves the program, or its shape changes: `retain` (default) leaves all of it there, and
   * `delete` deletes it with its messages. An endpoint of this program leaves the old network with the update, and what waits there for it is
   * parked when it is due; an endpoint that joins both (`furtherNetworks`) gets it.
   */
  removal?: Removal;
  /**
   * Whether the network may be there already, e.g. because its clients have declared it: it then comes under the stack as it is, with its
   * messages. What differs is named before anything is made. Default false; it may stay.
   */
  adopt?: boolean;
  /** The vhost; default `/`. */
  vhost?: pulumi.Input<string>;
  /**
   * The broker's version where the program knows it, e.g. `4.3.6`. From 4.0 a policy lifts the delivery limit that each quorum
   * queue has there (20); before 4.0 there is none to lift. Default: not known, and the limit is set, by policy, so high
   * (2,147,483,647) that no message reaches it, which brokers of all versions take.
   */
  brokerVersion?: string;
}

/**
 * A delay network: the exchanges, TTL queues, dead-letter arguments and bindings that delay a message by what its routing
 * key says, and a parking queue for what nobody takes.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { DelayLevelTopology } from "pulumi-rabbitmq-delay";
 *
 * const delay = new DelayLevelTopology("delay", { preset: "custom", prefix: "orders" });
 * export const delayNetwork = delay.network;
 * ```
 */
export class DelayLevelTopology extends pulumi.ComponentResource {
  /** The descriptor: export it from the stack, and give it to publishers and to other stacks' `EndpointDelayBinding`. */
  public readonly network: pulumi.Output<DelayNetworkDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly networkJson: pulumi.Output<string>;

  constructor(name: string, args: DelayLevelTopologyArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, brokerVersion, adopt, ...shape } = givenArguments(args);
    checkFlag("adopt", adopt);
    const network = readBeside(["vhost", "removal", "brokerVersion", "adopt"], () =>
      delayNetwork(shape as DelayNetworkOptions),
    );
    const options = removalOptions(removal);
    const plan = planEntities(network);
    const policies = [parkingPolicy(network), ...networkLimitPolicies(network, { brokerVersion })].filter(
      (policy) => policy !== undefined,
    );
    super("rabbitmq-delay:index:DelayLevelTopology", name, {}, opts);

    const adopted = adopt === true ? adoptedNetwork(network, policies) : undefined;
    const wanted = { ...plan, policies, brokerVersion, adopted, replaceable: isReplaced(removal) };
    const looked = new Declarer(name, vhostOnceLooked(this, vhost, wanted), { ...options, parent: this });
    const declarer = looked.after(looked.checkPlan(plan));
    const set = policies.map((policy) => declarer.policy(policy));
    const ready = pulumi.all(declareEntities(plan, () => declarer, set));

    const place: pulumi.Output<string> = pulumi.output(vhost ?? "/");
    this.network = ready.apply(() => place).apply((known) => toDescriptor({ ...network, vhost: known }));
    this.networkJson = pulumi.jsonStringify(this.network);
    rememberNetwork([this, this.network, this.networkJson], {
      network,
      bindingExchange: ready.apply(() => network.bindingExchange),
      vhost: vhost ?? "/",
      provider: this.getProvider("rabbitmq:index/exchange:Exchange"),
      removal,
    });
    this.registerOutputs({ network: this.network, networkJson: this.networkJson });
  }
}
