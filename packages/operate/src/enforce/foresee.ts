import { bindingIdentity } from "@rabbitmq-delay/topology/stack";
import type { LiveMatching } from "./liveMatching";
import type { Step } from "./step";

/** What a vhost has after a step. */
export function foresee(live: LiveMatching, step: Step): LiveMatching {
  const { exchanges, queues, bindings, policies } = live;
  switch (step.do) {
    case "declare-exchange": {
      const settings = { type: "topic", durable: true, auto_delete: false, internal: false, arguments: {} };
      return { ...live, exchanges: new Map([...exchanges, [step.exchange, { name: step.exchange, ...settings }]]) };
    }
    case "delete-exchange":
      return {
        ...live,
        exchanges: without(exchanges, step.exchange),
        bindings: bindings.filter(
          ({ source, destination, destinationType }) =>
            source !== step.exchange && !(destinationType === "exchange" && destination === step.exchange),
        ),
      };
    case "declare-queue": {
      const { name, durable, arguments: values } = step.queue;
      const queue = { name, durable, auto_delete: false, arguments: values };
      return { ...live, queues: new Map([...queues, [name, queue]]) };
    }
    case "drain-queue":
      return { ...live, queues: without(queues, step.queue) };
    case "bind":
      return { ...live, bindings: [...bindings, step.binding] };
    case "unbind": {
      const gone = bindingIdentity(step.binding);
      return { ...live, bindings: bindings.filter((binding) => bindingIdentity(binding) !== gone) };
    }
    case "set-policy":
      return { ...live, policies: [...policies.filter(({ name }) => name !== step.policy.name), step.policy] };
    case "delete-policy":
      return { ...live, policies: policies.filter(({ name }) => name !== step.policy) };
    case "await-policy":
    case "await-ready":
      return live;
  }
}

function without<T>(entities: ReadonlyMap<string, T>, name: string): ReadonlyMap<string, T> {
  return new Map([...entities].filter(([one]) => one !== name));
}
