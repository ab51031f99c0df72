import { PackageSchema } from "./packageSchema";

/** Where the project is published. */
const HOST = "github.com";
const REPOSITORY = "rabbitmq-delay/rabbitmq-delay";
const ADDRESS = `https://${HOST}/${REPOSITORY}`;

/** What a registry shows of the package, and where the engine fetches the plugin. */
const ABOUT = {
  displayName: "RabbitMQ Delay",
  publisher: "rabbitmq-delay",
  keywords: ["pulumi", "rabbitmq", "amqp", "messaging", "delay", "retry", "kind/component", "category/infrastructure"],
  homepage: ADDRESS,
  repository: ADDRESS,
  license: "Apache-2.0",
  pluginDownloadURL: `github://api.${HOST}/${REPOSITORY}`,
};

/** How the package is called in each language. In TypeScript, `pulumi-rabbitmq-delay` is the components themselves. */
const LANGUAGES: Record<string, Record<string, unknown>> = {
  nodejs: {
    packageName: "@rabbitmq-delay/rabbitmq-delay",
    packageDescription: "The components, served by their plugin.",
  },
  python: { packageName: "pulumi_rabbitmq_delay", pyproject: { enabled: true }, readme: `See ${ADDRESS}.` },
  go: {
    importBasePath: `${HOST}/${REPOSITORY}/sdk/go/rabbitmqdelay`,
    rootPackageName: "rabbitmqdelay",
    generateResourceContainerTypes: true,
    // Without it, the generator omits the arguments' types of objects in plain lists, which it then names.
    generateExtraInputTypes: true,
  },
  csharp: { rootNamespace: "RabbitMqDelay", namespaces: { "rabbitmq-delay": "Infrastructure" } },
};

/** Adds to a schema what can't be inferred from the components: how the package is called, and where it is published. */
export function withMetadata(schema: PackageSchema): PackageSchema {
  const { name, version, description, language = {}, types, resources, ...others } = schema;
  const languages = Object.keys({ ...language, ...LANGUAGES }).sort();
  return {
    name,
    version,
    description,
    ...ABOUT,
    ...others,
    language: Object.fromEntries(languages.map((key) => [key, { ...language[key], ...LANGUAGES[key] }])),
    types,
    resources,
  };
}
