import * as pulumi from "@pulumi/pulumi";
import type { Entities } from "./entities";

interface Made {
  type: string;
  inputs: Record<string, unknown>;
}

let made: Made[] = [];
let library: Promise<typeof import("pulumi-rabbitmq-delay")> | undefined;

/** The components, with an engine that notes what they would make. */
function components(): Promise<typeof import("pulumi-rabbitmq-delay")> {
  library ??= (async () => {
    await pulumi.runtime.setMocks(
      {
        newResource: ({ type, name, inputs }) => {
          made.push({ type, inputs: inputs as Record<string, unknown> });
          return { id: `${name}-id`, state: inputs as Record<string, unknown> };
        },
        call: () => ({}),
      },
      "gauntlet",
      "round",
      false,
    );
    return import("pulumi-rabbitmq-delay");
  })();
  return library;
}

/** What components declare, as the provider would. @param create makes them */
export async function declaredByComponents(
  create: (library: typeof import("pulumi-rabbitmq-delay")) => pulumi.ComponentResource[],
): Promise<Entities> {
  const loaded = await components();
  made = [];
  const resources = create(loaded);
  await Promise.all(resources.map((resource) => new Promise((resolve) => resource.urn.apply(resolve))));
  await pulumi.runtime.disconnect();
  return fromResources(made);
}

/** Resources of the RabbitMQ provider in the words of definitions. */
function fromResources(resources: Made[]): Entities {
  const all = (kind: string): Record<string, unknown>[] =>
    resources.filter(({ type }) => type === `rabbitmq:index/${kind.toLowerCase()}:${kind}`).map(({ inputs }) => inputs);
  return {
    exchanges: all("Exchange").map(({ name, settings }) => {
      const { type, durable, arguments: values } = settings as { type: string; durable: boolean; arguments?: object };
      return { name: name as string, type, durable, arguments: { ...values } };
    }),
    queues: all("Queue").map(({ name, settings }) => {
      const { durable, argumentsJson } = settings as { durable: boolean; argumentsJson: string };
      return { name: name as string, durable, arguments: JSON.parse(argumentsJson) as Record<string, unknown> };
    }),
    bindings: all("Binding").map(
      ({ source, destination, destinationType, routingKey }) =>
        ({ source, destination, destinationType, routingKey }) as Entities["bindings"][number],
    ),
    policies: all("Policy").map(({ name, policy }) => {
      const { pattern, applyTo, priority, definition } = policy as Entities["policies"][number];
      return { name: name as string, pattern, applyTo, priority, definition: numbersIn(definition) };
    }),
  };
}

/** The provider takes texts, and sends those that are numbers as numbers. */
function numbersIn(definition: Record<string, string | number>): Record<string, string | number> {
  const isNumber = /^-?\d+$/;
  return Object.fromEntries(
    Object.entries(definition).map(([key, value]) => [key, isNumber.test(String(value)) ? Number(value) : value]),
  );
}
