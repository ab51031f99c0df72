/**
 * The pinned versions of everything that the toolchain fetches or builds. The Go modules' own pins are in toolchain/go, Python's in
 * toolchain/python.
 */
export const versions = {
  /** The engine; its minor version may be older than the SDK's. */
  pulumi: "3.220.0",
  /** The last Node host whose Go package is in a module that a module proxy has. */
  nodeHost: "3.68.0",
  /** Must equal the npm package @pulumi/rabbitmq. */
  rabbitmqProvider: "3.3.8",
  /** Host of YAML programs, for the tests only; as in toolchain/go. */
  yamlHost: "1.38.1",
  /** The control plane that accepts the tests' manifests; as in toolchain/go. */
  kubernetes: "1.36.3",
  /** RabbitMQ's operator, which makes pods of the tests' clusters; as in toolchain/go. */
  clusterOperator: "2.16.0",
  /** Must equal the npm package @pulumi/kubernetes. */
  kubernetesProvider: "4.34.2",
  /** Must equal the npm package @pulumi/random. */
  randomProvider: "4.21.2",
  /** For the bench only. */
  openTofu: "1.12.6",
  /** The Debian release that has RabbitMQ 4.3. */
  debianWithRabbit43: "forky",
} as const;
