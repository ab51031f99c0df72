import { checkKnown } from "@rabbitmq-delay/topology/stack";
import type {
  ClusterAccessArgs,
  ClusterIngressArgs,
  ClusterMonitoringArgs,
  ClusterStorageArgs,
  ClusterTlsArgs,
  RabbitMqClusterArgs,
} from "./args";
import { Properties, givenArguments } from "../knownArguments";

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
 * @returns the properties that are given
 * @throws DelayTopologyError naming the first of them, and the known ones
 */
export function readProperties(args: RabbitMqClusterArgs): RabbitMqClusterArgs {
  checkKnown("cluster", args, Object.keys(cluster));
  const known = { storage, tls, access, monitoring, ingress };
  const parts = Object.keys(known) as (keyof typeof known)[];
  const read = parts
    .filter((part) => (args[part] ?? undefined) !== undefined)
    .map((part) => {
      checkKnown(part, args[part], Object.keys(known[part]), `${part}.`);
      return [part, givenArguments(args[part], part)] as const;
    });
  return { ...givenArguments(args), ...Object.fromEntries(read) };
}
