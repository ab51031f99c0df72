import { ComponentResourceOptions, InputPropertiesError, Inputs, RunError } from "@pulumi/pulumi";
import { ConstructResult, Provider } from "@pulumi/pulumi/provider";
import { ComponentClass } from "./components";
import { PackageSchema } from "./packageSchema";

/** Serves components with a schema that is there already, so that neither their sources nor a compiler is needed. */
export class SchemaProvider implements Provider {
  readonly version: string;
  private readonly classes: Map<string, ComponentClass>;

  constructor(
    private readonly described: PackageSchema,
    components: ComponentClass[],
  ) {
    this.version = described.version ?? "0.0.0";
    this.classes = new Map(components.map((component) => [`${described.name}:index:${component.name}`, component]));
  }

  async getSchema(): Promise<string> {
    return JSON.stringify(this.described);
  }

  async construct(
    name: string,
    type: string,
    inputs: Inputs,
    options: ComponentResourceOptions,
  ): Promise<ConstructResult> {
    const component = this.classes.get(type);
    const outputs = this.described.resources?.[type]?.properties;
    if (component === undefined || outputs === undefined) throw new Error(`${this.described.name} has no ${type}`);
    const made = makeChecked(() => new component(name, inputs, options));
    const values = made as unknown as Record<string, unknown>;
    return { urn: made.urn, state: Object.fromEntries(Object.keys(outputs).map((key) => [key, values[key]])) };
  }
}

/** Makes a component; what it refuses is an error of its user's, which the engine shows beside the resource, without a stack of calls. */
function makeChecked<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!RunError.isInstance(error)) throw error;
    // The engine prints the value of a property that it is told of, also a secret one; the message has what may be shown.
    throw new InputPropertiesError({ message: error.message, errors: [] });
  }
}
