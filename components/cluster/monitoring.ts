import { networkDashboard } from "./dashboard";
import { ConfigMap, ForeignObject, metadata, selectorLabels } from "./manifest";
import { clusterPorts, serviceHost } from "./places";
import type { ClusterShape } from "./shape";

/** Families of RabbitMQ's detailed metrics that the dashboard asks for: counts of messages, queue by queue. */
const DETAILED_FAMILIES = ["queue_coarse_metrics"];

/** What the Prometheus operator reads, and how often. */
export function serviceMonitorManifest(shape: ClusterShape): ForeignObject {
  const { name: port } = clusterPorts(shape).prometheus;
  const { tls } = shape;
  const ca = tls && { secret: { name: tls.secretName, key: "ca.crt" } };
  const way =
    tls === undefined ? { port } : { port, scheme: "https", tlsConfig: { ca, serverName: serviceHost(shape) } };
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: metadata(shape, shape.name, { labels: shape.monitoring.labels }),
    spec: {
      selector: { matchLabels: selectorLabels(shape) },
      namespaceSelector: { matchNames: [shape.namespace] },
      endpoints: [
        { ...way, interval: "15s", scrapeTimeout: "14s" },
        {
          ...way,
          interval: "30s",
          scrapeTimeout: "25s",
          path: "/metrics/detailed",
          params: { family: DETAILED_FAMILIES },
        },
      ],
    },
  };
}

/** The dashboard as Grafana's sidecar finds it. */
export function dashboardManifest(shape: ClusterShape): ConfigMap {
  return {
    kind: "ConfigMap",
    metadata: metadata(shape, `${shape.name}-dashboard`, {
      labels: { grafana_dashboard: "1", ...shape.monitoring.labels },
    }),
    data: { "delay-networks.json": JSON.stringify(networkDashboard()) },
  };
}
