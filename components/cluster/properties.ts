import { checkKnown } from "@rabbitmq-delay/topology/stack";
import type {
  ClusterAccessArgs,
  ClusterIngressArgs,
  ClusterMonitoringArgs,
  ClusterStorageArgs,
  ClusterTlsArgs,
  RabbitMqClusterArgs,
} from "./args";
import type { Properties } from "../knownArguments";

const cluster: Properties<RabbitMqClusterArgs> = {
  namespace: true,
  createNamespace: true,
  clusterName: true,
  mode: true,
  replicas: true,
  image: true,
  storage: true,
  memoryMiB: true,
  memoryWatermark: true,
  cpu: true,
  tls: true,
  plugins: true,
  config: true,
  deadLetterPrefetch: true,
  access: true,
  monitoring: true,
  ingress: true,
  managementUrl: true,
  caCertFile: true,
  username: true,
  password: true,
  erlangCookie: true,
  readyTimeoutSeconds: true,
  shutdownLimitSeconds: true,
  removal: true,
};
const storage: Properties<ClusterStorageArgs> = { className: true, sizeGiB: true };
const tls: Properties<ClusterTlsArgs> = { secretName: true, issuer: true, issuerKind: true, dnsNames: true };
const access: Properties<ClusterAccessArgs> = {
  clientNamespaces: true,
  managementNamespaces: true,
  monitoringNamespaces: true,
};
const monitoring: Properties<ClusterMonitoringArgs> = { serviceMonitor: true, dashboard: true, labels: true };
const ingress: Properties<ClusterIngressArgs> = { host: true, className: true, tlsSecretName: true, annotations: true };

/**
 * Looks for properties that nobody reads: a stack's config is checked by no compiler, and a misspelled `tls` is plain text.
 * @throws DelayTopologyError naming the first of them, and the known ones
 */
export function checkProperties(args: RabbitMqClusterArgs): void {
  checkKnown("cluster", args, Object.keys(cluster));
  const parts = { storage, tls, access, monitoring, ingress };
  for (const [part, known] of Object.entries(parts)) {
    const given = args[part as keyof typeof parts];
    if (given !== undefined) checkKnown(part, given, Object.keys(known), `${part}.`);
  }
}
