import { dirname } from "node:path";
import { getPulumiComponents } from "@pulumi/pulumi/provider/experimental";
import { serveOtherLanguages } from "pulumi-rabbitmq-delay/program";

// Before the components are loaded: they are made one by one, each for a program in another process.
serveOtherLanguages();

/** A component, as the provider makes it. */
export type ComponentClass = ReturnType<typeof getPulumiComponents>[number];

/** The components that the provider serves. */
export function servedComponents(): ComponentClass[] {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return getPulumiComponents(require("pulumi-rabbitmq-delay"));
}

/** The folder of the components' package, with its sources. */
export function componentsFolder(): string {
  return dirname(require.resolve("pulumi-rabbitmq-delay/package.json"));
}
