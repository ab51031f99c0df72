import * as pulumi from "@pulumi/pulumi";
import { ClusterSettings, isHostName, memoryPlan, readCluster, shownName } from "@rabbitmq-delay/topology/stack";
import { checkText } from "../checks";
import { IssuerKind } from "../enums";
import { isLater, readArguments } from "../knownArguments";
import { checkedLater } from "../laterValues";
import type { RabbitMqClusterArgs } from "./args";
import { nodesService, serviceHost } from "./places";
import type { ClusterShape } from "./shape";

/** What may be known later; it is checked then. */
const INPUTS = { later: ["password", "erlangCookie"], laterIn: ["monitoring.labels", "ingress.annotations"] };

/**
 * Checks a cluster's arguments and fills in its defaults.
 * @param fallbackName the component's name
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function clusterShape(fallbackName: string, args: RabbitMqClusterArgs): ClusterShape {
  const settings = readArguments({ ...args, clusterName: args.clusterName ?? fallbackName }, readCluster, INPUTS);
  const { clusterName: name = fallbackName, namespace, tls } = settings;
  const managementUrl = managementUrlOf(name, settings);
  return {
    name,
    namespace,
    createNamespace: settings.createNamespace,
    mode: settings.mode,
    replicas: settings.replicas,
    image: settings.image,
    storage: settings.storage,
    memory: memoryPlan(settings.memoryMiB, settings.memoryWatermark),
    cpu: settings.cpu,
    tls: tls && { ...certificateOf(name, tls), dnsNames: certificateNames({ name, namespace, managementUrl }, tls) },
    plugins: [...new Set(settings.plugins)],
    config: settings.config,
    deadLetterPrefetch: settings.deadLetterPrefetch,
    access: { clientNamespaces: [], managementNamespaces: [], monitoringNamespaces: [], ...settings.access },
    monitoring: {
      serviceMonitor: false,
      dashboard: false,
      ...settings.monitoring,
      labels: textsOf("monitoring.labels", args.monitoring?.labels),
    },
    ingress: settings.ingress && {
      ...settings.ingress,
      annotations: textsOf("ingress.annotations", args.ingress?.annotations),
    },
    managementUrl,
    username: settings.username,
    readyTimeoutSeconds: settings.readyTimeoutSeconds,
    shutdownLimitSeconds: settings.shutdownLimitSeconds,
  };
}

/** A map's texts; those that are known later are checked then. */
function textsOf(place: string, texts: Readonly<Record<string, pulumi.Input<string>>> | null = {}): Texts {
  const known = (name: string, text: pulumi.Input<string>): pulumi.Input<string> =>
    isLater(text) ? checkedLater(text, (value) => checkText(`${place}.${shownName(name)}`, value)) : text;
  return Object.fromEntries(Object.entries(texts ?? {}).map(([name, text]) => [name, known(name, text)]));
}

type Texts = Record<string, pulumi.Input<string>>;

type Tls = NonNullable<ClusterSettings["tls"]>;

function certificateOf(
  name: string,
  { secretName = `${name}-tls`, issuer, issuerKind = IssuerKind.ClusterIssuer }: Tls,
): Omit<NonNullable<ClusterShape["tls"]>, "dnsNames"> {
  return { secretName, issuer: issuer === undefined ? undefined : { name: issuer, kind: issuerKind } };
}

/** Names by which clients, this program and the pods' own probes come. */
function certificateNames(
  { name, namespace, managementUrl }: Pick<ClusterShape, "name" | "namespace" | "managementUrl">,
  { dnsNames }: Tls,
): string[] {
  const service = serviceHost({ name, namespace });
  const own = [name, `${name}.${namespace}`, service, `${service}.cluster.local`];
  const nodes = `*.${nodesService({ name })}.${namespace}.svc`;
  const host = new URL(managementUrl).hostname;
  const all = [...own, nodes, `${nodes}.cluster.local`, "localhost", host, ...dnsNames];
  return [...new Set(all)].filter(isHostName);
}

function managementUrlOf(name: string, { managementUrl, ingress, namespace, tls }: ClusterSettings): string {
  const service = serviceHost({ name, namespace });
  const fallback = tls === undefined ? `http://${service}:15672` : `https://${service}:15671`;
  const url = managementUrl ?? (ingress === undefined ? fallback : `https://${ingress.host}`);
  return url.replace(/\/+$/, "");
}
