import { bindingIdentity, BindingPlan, EntityPlan, escapeRegex, PolicyPlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { checkEntityName } from "../names";
import type { QueueType } from "../network/delayNetwork";
import { byHand, Source } from "../optionReading";
import type { DelayedExchangeOptions } from "../options.generated";
import { checkQueueKind, waitingArguments } from "../queueKind";
import { namedAs, optionsIn, readDescriptor } from "../readDescriptor";
import { delayedExchangeNames, readDelayedExchangeOptions } from "../readers.generated";
import { sortedDelays } from "../retry/delays";
import type { DeliveryType } from "../store/intake";

/** The descriptor of a delayed exchange of plain topology: plain JSON that a stack exports. */
export interface DelayedExchange {
  kind: "delayed-exchange";
  version: 1;
  /** What publishers publish to, with the header `x-delay`; start of all other names. */
  exchange: string;
  /** Where messages go when their time is over, under the routing key that they were published with; queues are bound here. */
  delivery: string;
  /** Type of the delivery exchange; undefined: it belongs to others, and is not declared along. */
  type?: DeliveryType;
  /** The declared delays, in milliseconds, ascending. */
  delaysMs: number[];
  queueType: QueueType;
  atLeastOnce: boolean;
  /** The exchange of others that gets what has another delay, or none; undefined: that is parked. */
  otherwise?: string;
  /** The exchange and the queue, of one name, for what nobody takes. */
  parkingQueue: string;
}

/**
 * Makes the descriptor of a delayed exchange from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayedExchange(options: DelayedExchangeOptions): DelayedExchange {
  return makeDelayedExchange(options, byHand);
}

/** What the descriptor calls options that it has under another name. */
const IN_DESCRIPTOR = { delays: "delaysMs" };

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayedExchange(value: unknown, property = "delayedExchange"): DelayedExchange {
  return readDescriptor<DelayedExchange>(value, "delayed-exchange", property, (given, source) => {
    const options = {
      ...optionsIn(delayedExchangeNames, given, IN_DESCRIPTOR),
      declareDelivery: given.type !== undefined,
    };
    return makeDelayedExchange(options, namedAs(source, IN_DESCRIPTOR));
  });
}

function makeDelayedExchange(options: unknown, source: Source): DelayedExchange {
  const { at } = source;
  const read = readDelayedExchangeOptions(options, "delayedExchange", source);
  const { exchange, delivery = `${exchange}.delivery`, type, declareDelivery, otherwise } = read;
  if (!declareDelivery && type !== undefined)
    throw new DelayTopologyError(at("type"), type, "the delivery exchange is not declared here; leave it out");
  const delaysMs = sortedDelays(read.delays);
  const descriptor: DelayedExchange = {
    kind: "delayed-exchange",
    version: 1,
    exchange,
    delivery,
    ...(declareDelivery ? { type: type ?? "topic" } : {}),
    delaysMs,
    ...checkQueueKind(read, at),
    ...(otherwise === undefined ? {} : { otherwise }),
    parkingQueue: `${exchange}.parking`,
  };
  if (declareDelivery) checkEntityName(at("delivery"), delivery);
  const { exchanges, queues, policies } = planDelayedExchange(descriptor);
  [...exchanges, ...queues, ...policies].forEach(({ name }) => checkEntityName(at("exchange"), name));
  checkApart(descriptor, at);
  return descriptor;
}

/** What leads back to the exchange itself would go round for ever. */
function checkApart(descriptor: DelayedExchange, at: (name: string) => string): void {
  const { exchange, delivery, otherwise, parkingQueue } = descriptor;
  const own = [exchange, parkingQueue, ...(otherwise === undefined ? [] : [otherNameOf(descriptor)])];
  if (own.includes(delivery))
    throw new DelayTopologyError(at("delivery"), delivery, `it is this exchange's own; name another one`);
  if (otherwise === undefined) return;
  if (own.includes(otherwise))
    throw new DelayTopologyError(at("otherwise"), otherwise, `it is this exchange's own; name another one`);
  if (otherwise === delivery) {
    const allowed = "a message with a delay that is not declared would be delivered at once; name another exchange";
    throw new DelayTopologyError(at("otherwise"), otherwise, allowed);
  }
}

/** The queue in which messages of one delay wait. */
function queueOf({ exchange }: Pick<DelayedExchange, "exchange">, delayMs: number): string {
  return `${exchange}.delay-${delayMs}`;
}

/**
 * The exchange before that of others, which parks all while that is not there. Its name has theirs: where another one takes its place, no message
 * goes both ways, though the former way may be left on the broker.
 */
function otherNameOf({ exchange, otherwise }: Pick<DelayedExchange, "exchange" | "otherwise">): string {
  return `${exchange}.otherwise.${otherwise}`;
}

/** All that a delayed exchange needs on the broker. */
export type DelayedExchangePlan = EntityPlan & { policies: PolicyPlan[] };

/** Plans what a delayed exchange needs on the broker. */
export function planDelayedExchange(descriptor: DelayedExchange): DelayedExchangePlan {
  const steps = delayedExchangeSteps(descriptor);
  return {
    exchanges: steps.flatMap(({ exchanges = [] }) => exchanges),
    queues: steps.flatMap(({ queues = [] }) => queues),
    bindings: steps.flatMap(({ bindings = [] }) => bindings),
    policies: steps.flatMap(({ policies = [] }) => policies),
  };
}

/**
 * The same in the order in which it is declared, each step once the ones before are there: parking first, then what leads there, and the
 * exchange that publishers use last. What comes before the binding of its delay is there goes where other delays go; nothing leads to an
 * exchange that is not there yet, which would drop it.
 */
export function delayedExchangeSteps(descriptor: DelayedExchange): Partial<DelayedExchangePlan>[] {
  const { exchange, delivery, type, delaysMs, otherwise, parkingQueue, queueType } = descriptor;
  const durable = true as const;
  const other = otherwise === undefined ? parkingQueue : otherNameOf(descriptor);
  return [
    {
      exchanges: [{ name: parkingQueue, type: "fanout", durable }],
      queues: [{ name: parkingQueue, durable, arguments: { "x-queue-type": queueType } }],
      bindings: [{ source: parkingQueue, destination: parkingQueue, destinationType: "queue", routingKey: "" }],
    },
    { policies: [alternate(parkingQueue, parkedPattern(descriptor), parkingQueue)] },
    {
      exchanges: [
        ...(type === undefined ? [] : [{ name: delivery, type, durable }]),
        ...(otherwise === undefined ? [] : [{ name: other, type: "fanout" as const, durable }]),
      ],
    },
    {
      queues: delaysMs.map((delayMs) => ({
        name: queueOf(descriptor, delayMs),
        durable,
        arguments: waitingArguments(descriptor, delayMs, { exchange: delivery }),
      })),
      // An alternate exchange that is not there drops what should go there, without a word; a binding to one can't be made.
      bindings:
        otherwise === undefined
          ? []
          : [{ source: other, destination: otherwise, destinationType: "exchange", routingKey: "" }],
    },
    { policies: [alternate(`${exchange}.otherwise`, escapeRegex(exchange), other)] },
    { exchanges: [{ name: exchange, type: "headers", durable }] },
    {
      bindings: [
        ...byDelay(exchange, 0, { destination: delivery, destinationType: "exchange" }),
        ...delaysMs.flatMap((delayMs) =>
          byDelay(exchange, delayMs, { destination: queueOf(descriptor, delayMs), destinationType: "queue" }),
        ),
      ],
    },
  ];
}

/**
 * The bindings that take messages of one delay: a number in the header is compared with numbers, of whatever width, and a text with texts. A
 * headers exchange reads no routing key; here it tells the two apart.
 */
function byDelay(
  source: string,
  delayMs: number,
  to: Pick<BindingPlan, "destination" | "destinationType">,
): BindingPlan[] {
  const keys: [string, number | string][] = [
    [`x-delay.${delayMs}`, delayMs],
    [`x-delay.text.${delayMs}`, `${delayMs}`],
  ];
  return keys.map(([routingKey, delay]) => ({
    source,
    ...to,
    routingKey,
    // Without -with-x, RabbitMQ passes over headers that start with x-.
    arguments: { "x-match": "all-with-x", "x-delay": delay },
  }));
}

/**
 * The delivery exchange, where it is declared along, and each exchange before one of others: also of a former one, to which messages still go
 * until an update is through.
 */
function parkedPattern({ exchange, delivery, type }: DelayedExchange): string {
  const others = `${escapeRegex(exchange)}\\.otherwise\\..+`;
  return type === undefined ? others : `${escapeRegex(delivery)}|${others}`;
}

/**
 * Where exchanges send what nothing takes there. By policy, so that a client that declares one of them itself, without arguments, is not
 * refused; and one policy for each way, so that another way is a change of it, with no moment between.
 */
function alternate(name: string, pattern: string, to: string): PolicyPlan {
  return {
    name,
    pattern: `^(?:${pattern})$`,
    applyTo: "exchanges",
    priority: 100,
    definition: { "alternate-exchange": to },
  };
}

/** A binding of others that lets messages of a delayed exchange skip, repeat or leave a part of their way, and why it does. */
export interface ForeignBinding {
  binding: BindingPlan;
  /** What it does, the end of a sentence, and how to mend it. */
  harm: string;
}

/**
 * Finds bindings of others at the parts of a delayed exchange. Consumers of the delayed-message plugin bound their queues to the exchange
 * that publishers use; here, such a binding takes messages before their time is over, and without arguments all of them.
 * @param found all bindings of the vhost
 */
export function foreignBindings(descriptor: DelayedExchange, found: readonly BindingPlan[]): ForeignBinding[] {
  const { exchange, delivery, delaysMs } = descriptor;
  const plan = planDelayedExchange(descriptor);
  const planned = new Set(plan.bindings.map(bindingIdentity));
  const waiting = new Set(delaysMs.map((delayMs) => queueOf(descriptor, delayMs)));
  const inner = new Set(plan.exchanges.map(({ name }) => name).filter((name) => ![exchange, delivery].includes(name)));
  const harmOf = (binding: BindingPlan): string | undefined => {
    const { source, destination, destinationType, routingKey } = binding;
    if (source === exchange && /^x-delay\.(?:text\.)?0$/.test(routingKey))
      return `gets what has an x-delay of 0, besides ${delivery}, as a former delivery exchange that was left on the broker; unbind it`;
    if (source === exchange)
      return isDelayBinding(descriptor, binding)
        ? undefined
        : `gets messages before their time is over, and without arguments all of them; bind it to ${delivery} instead`;
    if (inner.has(source)) return "gets copies of what has another delay, or of what nobody takes; unbind it";
    if (destinationType === "queue" && waiting.has(destination))
      return `delays messages that did not ask for it; publish them to ${exchange}, and unbind it`;
    if (destinationType === "exchange" && destination === exchange && source === delivery)
      return "leads messages back whose time is over; unbind it";
    return undefined;
  };
  return found
    .filter((binding) => !planned.has(bindingIdentity(binding)))
    .flatMap((binding) => {
      const harm = harmOf(binding);
      return harm === undefined ? [] : [{ binding, harm }];
    });
}

/** Whether a binding takes messages of one delay to its queue, also one of a delay that is no longer declared, and was left on the broker. */
function isDelayBinding({ exchange }: DelayedExchange, binding: BindingPlan): boolean {
  const delayMs = /^x-delay\.(?:text\.)?(\d+)$/.exec(binding.routingKey)?.[1];
  if (delayMs === undefined) return false;
  const { "x-match": match, "x-delay": compared } = binding.arguments ?? {};
  return (
    match === "all-with-x" &&
    String(compared) === delayMs &&
    binding.destinationType === "queue" &&
    binding.destination === queueOf({ exchange }, Number(delayMs))
  );
}
