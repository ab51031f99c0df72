"use strict";

// Serves the components to programs in other languages. What `pulumi package add` runs is this folder's main; the name that the
// provider has is given here, so that neither a folder's nor a package's name decides it.
const { dirname } = require("node:path");
const { componentProviderHost, getPulumiComponents } = require("@pulumi/pulumi/provider/experimental");

require("pulumi-rabbitmq-delay/program").serveOtherLanguages();
const components = getPulumiComponents(require("pulumi-rabbitmq-delay"));
// The schema is inferred from the sources of the components' package.
const folder = dirname(require.resolve("pulumi-rabbitmq-delay/package.json"));
void componentProviderHost({ name: "rabbitmq-delay", dirname: folder, components });
