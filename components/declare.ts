import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { BrokerCheckError } from "@rabbitmq-delay/broker";
import { BindingPlan, EntityPlan, ExchangePlan, PolicyPlan, QueuePlan } from "@rabbitmq-delay/topology";
import { OwnershipPlan, escapeRegex, topicMatches } from "@rabbitmq-delay/topology/stack";
import { aliasNames, checkOneUrn, nameOf, renamed } from "./oneUrn";
import { hasEngine, stackState, whyUnread } from "./stackState";
import { untransformed } from "./transforms";
import { warn } from "./warn";

const BINDING = "rabbitmq:index/binding:Binding";
const EXCHANGE = "rabbitmq:index/exchange:Exchange";
const QUEUE = "rabbitmq:index/queue:Queue";
const POLICY = "rabbitmq:index/policy:Policy";

/**
 * Where a broker dies between a create and its reading back, the engine plans an update that the provider doesn't know for
 * most resources, and each later run would fail. The engine's own key for that makes it a replacement; in this order,
 * because the new entity has the old one's name.
 */
const REPAIRABLE = { replaceOnChanges: ["#initerror"], deleteBeforeReplace: true };

/** Declares planned entities in one vhost, as children of a component; each with its broker name in its logical name. */
export class Declarer {
  private readonly options: pulumi.CustomResourceOptions;

  /**
   * @param name start of all logical names
   * @param vhost where to declare
   * @param options parent and removal rule
   */
  constructor(
    private readonly name: string,
    private readonly vhost: pulumi.Input<string>,
    options: pulumi.CustomResourceOptions,
  ) {
    this.options = { ...options, ...REPAIRABLE };
  }

  /** An exchange that says whose a name is. It always goes with its component, so it can't pass to another one within an update. */
  claim(plan: OwnershipPlan): rabbitmq.Exchange {
    const component = this.options.parent as pulumi.Resource;
    const outputs = { vhost: this.vhost, name: plan.name };
    const what = `the claim ${plan.name}`;
    const checked = checkOneUrn({
      component,
      type: EXCHANGE,
      name: `${this.name}-${plan.name}`,
      outputs,
      isShared: true,
      what,
    });
    return this.after(checked).exchange(plan);
  }

  /** The same, once something else is known. */
  after(checked: Promise<unknown>): Declarer {
    const vhost = pulumi.all([this.vhost, checked]).apply(([known]) => known);
    return new Declarer(this.name, vhost, this.options);
  }

  /** The same, for what must not be made before some resources are there. */
  afterAll(resources: pulumi.Resource[]): Declarer {
    return new Declarer(this.name, this.vhost, { ...this.options, dependsOn: this.dependencies(resources) });
  }

  /** Refuses what of a plan the state has under other URNs; what waits for it is not made before. */
  async checkPlan({ exchanges, queues, bindings }: Pick<EntityPlan, "bindings"> & Partial<EntityPlan>): Promise<void> {
    await Promise.all([
      ...(exchanges ?? []).map(({ name }) => this.checkEntity(EXCHANGE, name, `exchange ${name}`)),
      ...(queues ?? []).map(({ name }) => this.checkEntity(QUEUE, name, `queue ${name}`)),
      ...bindings.map((binding) => {
        const { label, former } = labelOf(binding, bindings);
        return this.checkBinding(label, binding, former);
      }),
    ]);
  }

  private checkEntity(type: string, name: string, what: string): Promise<void> {
    // What stays on the broker when it leaves the state is not deleted under its old URN either.
    if (this.options.retainOnDelete) return Promise.resolve();
    const component = this.options.parent as pulumi.Resource;
    const outputs = { vhost: this.vhost, name };
    return checkOneUrn({ component, type, name: `${this.name}-${name}`, outputs, isShared: true, what });
  }

  /**
   * Refuses a binding that the state has under another URN.
   * @param label as of {@link binding}, and so is `former`
   * @param bound its planned names
   * @returns resolves before anything is declared, in a component whose declarer waits for it
   */
  checkBinding(
    label: string,
    bound: { [Part in keyof BindingPlan]: pulumi.Input<BindingPlan[Part]> },
    former?: string,
  ): Promise<void> {
    const { source, destination, destinationType, routingKey } = bound;
    // What stays on the broker when it leaves the state is not deleted under its old URN either.
    if (this.options.retainOnDelete) return Promise.resolve();
    return checkOneUrn({
      component: this.options.parent as pulumi.Resource,
      type: BINDING,
      name: `${this.name}-${label}`,
      formerNames: former === undefined ? [] : [`${this.name}-${former}`],
      outputs: { vhost: this.vhost, source, destination, destinationType, routingKey },
      what: `the binding of ${label}`,
    });
  }

  /** A changed exchange setting is planned as an update that the provider then refuses, so it has to be a replacement. */
  exchange(plan: ExchangePlan & { arguments?: Record<string, string> }): rabbitmq.Exchange {
    const settings = { type: plan.type, durable: plan.durable, autoDelete: false, arguments: plan.arguments };
    const name = `${this.name}-${plan.name}`;
    return new rabbitmq.Exchange(
      name,
      this.untransformed(EXCHANGE, name, { name: plan.name, vhost: this.vhost, settings }),
      {
        ...this.options,
        replaceOnChanges: [...REPAIRABLE.replaceOnChanges, "settings"],
      },
    );
  }

  /**
   * Some vendors give a queue no type. RabbitMQ 4 then shows `classic` among its arguments and 3.10 doesn't, so that on one
   * of them each refresh would plan its replacement; the arguments of such a queue are compared by `checkBroker` alone.
   * @param after what has to be there before the queue: its policies, because a queue that is declared while its policy is set
   * may stay without it (seen on 4.3.6)
   */
  queue(plan: QueuePlan, after?: pulumi.Resource | pulumi.Resource[]): rabbitmq.Queue {
    const isTyped = "x-queue-type" in plan.arguments;
    const settings = { durable: plan.durable, autoDelete: false, argumentsJson: argumentsJson(plan.arguments) };
    const name = `${this.name}-${plan.name}`;
    return new rabbitmq.Queue(name, this.untransformed(QUEUE, name, { name: plan.name, vhost: this.vhost, settings }), {
      ...this.options,
      dependsOn: this.dependencies(after),
      ...(isTyped ? {} : { ignoreChanges: ["settings.argumentsJson"] }),
    });
  }

  private untransformed<T extends pulumi.Inputs>(type: string, name: string, inputs: T): T {
    return untransformed(type, name, inputs, this.options);
  }

  private dependencies(after: pulumi.Resource | pulumi.Resource[] = []): pulumi.Resource[] {
    const before = (this.options.dependsOn ?? []) as pulumi.Resource | pulumi.Resource[];
    return [before, after].flat();
  }

  /**
   * @param label last part of the logical name
   * @param source name of the source exchange, as that resource's output: a replaced exchange then replaces its bindings
   * @param destination name of the bound queue or exchange, likewise
   * @param former last part of the logical name that it may have in the state, for a binding by the same key, of the same source where one
   * is given
   */
  binding(
    label: string,
    plan: {
      destinationType: pulumi.Input<BindingPlan["destinationType"]>;
      routingKey: pulumi.Input<string>;
      arguments?: BindingPlan["arguments"];
    },
    source: pulumi.Input<string>,
    destination: pulumi.Input<string>,
    former?: { label: string; source?: pulumi.Input<string> },
  ): rabbitmq.Binding {
    const { destinationType, routingKey } = plan;
    const name = `${this.name}-${label}`;
    const component = this.options.parent as pulumi.Resource;
    const aliases =
      former === undefined
        ? []
        : [formerName(`${this.name}-${former.label}`, name, { routingKey, source: former.source }, component)];
    const values = plan.arguments === undefined ? {} : { argumentsJson: argumentsJson(plan.arguments) };
    const inputs = { source, vhost: this.vhost, destination, destinationType, routingKey, ...values };
    return new rabbitmq.Binding(name, this.untransformed(BINDING, name, inputs), { ...this.options, aliases });
  }

  /** @param label last part of the logical name; default: the policy's name, which has to be known then */
  policy(plan: PolicyPlan): rabbitmq.Policy;
  policy(plan: pulumi.Output<PolicyPlan>, label: string): rabbitmq.Policy;
  policy(plan: PolicyPlan | pulumi.Output<PolicyPlan>, label?: string): rabbitmq.Policy {
    const planned = pulumi.output(plan);
    const policy = planned.apply(({ pattern, applyTo, priority, definition }) => ({
      pattern,
      applyTo,
      priority,
      // The provider takes texts, and sends those that are numbers as numbers.
      definition: Object.fromEntries(Object.entries(definition).map(([key, value]) => [key, String(value)])),
    }));
    const name = `${this.name}-${label ?? (plan as PolicyPlan).name}`;
    const inputs = { name: planned.apply((known) => known.name), vhost: this.vhost, policy };
    return new rabbitmq.Policy(name, this.untransformed(POLICY, name, inputs), this.options);
  }
}

/**
 * Declares a plan; what is returned resolves when the exchanges that publishers and endpoints use are there.
 * @param declarerOf who declares an entity of that name, e.g. under another removal rule than the rest
 * @param policies of the queues, which have to be there before them
 * @param used queues that others bind or publish to: what is returned waits for them, and for what leads to them
 */
export function declareEntities(
  plan: EntityPlan,
  declarerOf: (entity: { name: string }) => Declarer,
  policies: pulumi.Resource[] = [],
  used: string[] = [],
): pulumi.Output<string>[] {
  const exchanges = new Map(plan.exchanges.map((exchange) => [exchange.name, declarerOf(exchange).exchange(exchange)]));
  const queues = new Map(plan.queues.map((queue) => [queue.name, declarerOf(queue).queue(queue, policies)]));
  const ways: pulumi.Output<string>[] = [];
  for (const binding of plan.bindings) {
    const targets = binding.destinationType === "queue" ? queues : exchanges;
    const [source, destination] = [exchanges.get(binding.source), targets.get(binding.destination)];
    if (source === undefined || destination === undefined) {
      throw new Error(`the plan binds ${binding.source} to ${binding.destination} without declaring both`);
    }
    const { label, former } = labelOf(binding, plan.bindings);
    const made = declarerOf({ name: binding.source }).binding(
      label,
      binding,
      source.name,
      destination.name,
      former === undefined ? undefined : { label: former },
    );
    if (used.includes(binding.destination)) ways.push(made.id);
  }
  const bound = [...queues].filter(([name]) => used.includes(name)).map(([, queue]) => queue);
  return [...[...exchanges.values(), ...bound].map(({ name }) => name), ...ways];
}

/**
 * Declares a plan step by step: what stands in one is made once all of the step before is there.
 * @param limits policies of single queues, each of which has to be there before its queue
 * @returns resolves when everything is there
 */
export function declareSteps(
  steps: readonly Partial<EntityPlan & { policies: PolicyPlan[] }>[],
  declarer: Declarer,
  limits: readonly PolicyPlan[],
): pulumi.Output<string>[] {
  const exchanges = new Map<string, rabbitmq.Exchange>();
  const queues = new Map<string, rabbitmq.Queue>();
  const limitsByPattern = new Map(limits.map((policy) => [policy.pattern, declarer.policy(policy)]));
  const limitOf = (queue: string): pulumi.Resource[] =>
    [limitsByPattern.get(`^${escapeRegex(queue)}$`)].filter((policy) => policy !== undefined);
  const all = steps.flatMap(({ bindings = [] }) => bindings);
  const ids: pulumi.Output<string>[] = [];
  let before: pulumi.Resource[] = [];
  for (const step of steps) {
    const next = declarer.afterAll(before);
    const set = (step.policies ?? []).map((policy) => next.policy(policy));
    for (const exchange of step.exchanges ?? []) exchanges.set(exchange.name, next.exchange(exchange));
    for (const queue of step.queues ?? []) queues.set(queue.name, next.queue(queue, limitOf(queue.name)));
    const bound = (step.bindings ?? []).map((binding) => {
      const { source, destination, destinationType } = binding;
      const targets = destinationType === "queue" ? queues : exchanges;
      const [from, to] = [exchanges.get(source)?.name ?? source, targets.get(destination)?.name ?? destination];
      return next.binding(labelOf(binding, all).label, binding, from, to);
    });
    const made: pulumi.CustomResource[] = [
      ...set,
      ...(step.exchanges ?? []).map(({ name }) => exchanges.get(name) as rabbitmq.Exchange),
      ...(step.queues ?? []).map(({ name }) => queues.get(name) as rabbitmq.Queue),
      ...bound,
    ];
    if (made.length > 0) before = made;
    ids.push(...made.map(({ id }) => id));
  }
  return ids;
}

/**
 * A binding is named by what it binds, and by its key too where there are several between the two, as a work queue has them for its
 * patterns. One that becomes one of several, or is left of them, keeps its resource: another one would be made for the same binding, which
 * the end of the old one then deletes.
 */
function labelOf(binding: BindingPlan, all: readonly BindingPlan[]): { label: string; former?: string } {
  const { source, destination, destinationType, routingKey } = binding;
  const between = all.filter(
    (other) =>
      other.source === source && other.destination === destination && other.destinationType === destinationType,
  );
  const [alone, keyed] = [`${source}-to-${destination}`, `${source}-to-${destination}/${routingKey}`];
  if (between.length > 1) return { label: keyed, former: alone };
  // What is left of several is bound by a key that leads to the queue's own name.
  return { label: alone, former: topicMatches(routingKey, destination) ? keyed : undefined };
}

/**
 * The name that a binding has in the state: the former one, where that is of a binding by the same key (and of the same source, where one is
 * given), else its own. A name alone does not say which of several bindings the one was. Where the component has a new name, the engine translates the former one.
 * Rejects with a BrokerCheckError where an engine does not give the state, in an update: taken for a new one, the binding would be made
 * once more and then deleted as the old one, and nothing would bind the queue.
 */
export function formerName(
  former: string,
  own: string,
  bound: { routingKey: pulumi.Input<string>; source?: pulumi.Input<string> },
  component: pulumi.Resource,
): pulumi.Output<pulumi.Alias> {
  const resources = pulumi.output(stackState.resources());
  return pulumi.all([resources, bound.routingKey, bound.source]).apply(async ([found, key, source]) => {
    if (found === undefined && hasEngine()) {
      const unknown = `the engine does not give this stack's state (${whyUnread()}), so binding ${own} may be there under its former name ${former}`;
      if (!pulumi.runtime.isDryRun())
        throw new BrokerCheckError(
          `${unknown}, and making it anew would then unbind its queue; it was left as it is. See that the stack's backend can be read, ` +
            `and run the update again`,
        );
      await warn(`${unknown}; an update is refused as long as that is so`);
    }
    const names = [former, ...(await aliasNames(component)).map((alias) => renamed(former, nameOf(component), alias))];
    const isSame = (found ?? []).some(
      ({ urn, type, outputs }) =>
        type === BINDING &&
        names.some((name) => urn.endsWith(`::${name}`)) &&
        outputs.routingKey === key &&
        (source === undefined || outputs.source === source),
    );
    return { name: isSame ? former : own };
  });
}

/** Compact and with sorted keys, as the provider writes it when it reads a queue back; else each refresh shows a change. */
export function argumentsJson(values: Record<string, unknown>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))));
}
