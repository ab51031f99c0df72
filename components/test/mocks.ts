import * as pulumi from "@pulumi/pulumi";

/** A resource as the SDK's mocks see it. */
export interface Made<Inputs = Record<string, unknown>> {
  type: string;
  name: string;
  provider?: string;
  inputs: Inputs;
}

/**
 * Has the SDK hand the resources of an update to `note`, in place of an engine.
 * @returns the components, loaded after that: they ask the SDK for its engine at once
 */
export async function mockedComponents<Inputs = Record<string, unknown>>(
  note: (made: Made<Inputs>) => void,
): Promise<typeof import("pulumi-rabbitmq-delay")> {
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, provider }) => {
        note({ type, name, provider, inputs: inputs as Inputs });
        return { id: `${name}-id`, state: inputs as Record<string, unknown> };
      },
      call: () => ({}),
    },
    "project",
    "stack",
    false,
  );
  return import("pulumi-rabbitmq-delay");
}
