import type { ClusterMode, IssuerKind } from "../enums";
import type { ClusterAccessArgs, ClusterIngressArgs, ClusterMonitoringArgs } from "./args";
import type { MemoryPlan } from "@rabbitmq-delay/topology/stack";

/** A cluster whose arguments were checked, with the defaults in their places; secrets left out. */
export interface ClusterShape {
  name: string;
  namespace: string;
  createNamespace: boolean;
  mode: ClusterMode;
  replicas: number;
  image: string;
  storage: { className: string; sizeGiB: number };
  memory: MemoryPlan;
  cpu: string;
  /** Undefined for plain text. */
  tls: { secretName: string; issuer: { name: string; kind: IssuerKind } | undefined; dnsNames: string[] } | undefined;
  plugins: string[];
  config: Record<string, string>;
  deadLetterPrefetch: number;
  access: Required<ClusterAccessArgs>;
  monitoring: Required<ClusterMonitoringArgs>;
  ingress: Required<ClusterIngressArgs> | undefined;
  managementUrl: string;
  username: string;
  readyTimeoutSeconds: number;
  shutdownLimitSeconds: number;
}
