import type { ClusterShape } from "./shape";

/** Ports of a node, as its Services have them. */
export interface ClusterPorts {
  amqp: { name: string; port: number };
  management: { name: string; port: number };
  prometheus: { name: string; port: number };
}

/** Where clients find what; names and ports are those of RabbitMQ's operator. */
export function clusterPorts({ tls }: Pick<ClusterShape, "tls">): ClusterPorts {
  return tls === undefined
    ? {
        amqp: { name: "amqp", port: 5672 },
        management: { name: "management", port: 15672 },
        prometheus: { name: "prometheus", port: 15692 },
      }
    : {
        amqp: { name: "amqps", port: 5671 },
        management: { name: "management-tls", port: 15671 },
        prometheus: { name: "prometheus-tls", port: 15691 },
      };
}

/** The address for services in the same Kubernetes, without a user. */
export function amqpUrl(shape: ClusterShape): string {
  const { name, port } = clusterPorts(shape).amqp;
  return `${name}://${serviceHost(shape)}:${port}`;
}

/** Name of the Service that clients use, as the whole Kubernetes cluster knows it. */
export function serviceHost({ name, namespace }: Pick<ClusterShape, "name" | "namespace">): string {
  return `${name}.${namespace}.svc`;
}

/** Name of the headless Service that the nodes have their names from; the operator names its own so. */
export function nodesService({ name }: Pick<ClusterShape, "name">): string {
  return `${name}-nodes`;
}
