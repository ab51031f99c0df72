import { ComponentProvider } from "@pulumi/pulumi/provider/experimental";
import { componentsFolder, servedComponents } from "./components";
import { withMetadata } from "./metadata";
import { PackageSchema } from "./packageSchema";
import { withSecrets } from "./secrets";
import { withCsharpNames, withDescriptorTexts, withTypes } from "./types";

/** The name of the package, whatever its folder and its npm package are called. */
const NAME = "rabbitmq-delay";

/** The schema as it follows from the sources of the components, with the package's metadata. */
export async function inferSchema(): Promise<PackageSchema> {
  const provider = new ComponentProvider({ name: NAME, dirname: componentsFolder(), components: servedComponents() });
  const inferred = JSON.parse(await provider.getSchema()) as PackageSchema;
  return withMetadata(withDescriptorTexts(withCsharpNames(withSecrets(withTypes(inferred)))));
}
