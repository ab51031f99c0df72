import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { checkInteger, checkOneOf } from "@rabbitmq-delay/topology/stack";
import { ClusterMode, IssuerKind } from "../enums";
import type { ClusterAccessArgs, ClusterIngressArgs, ClusterMonitoringArgs, RabbitMqClusterArgs } from "./args";
import { checkFlag, checkText } from "../checks";
import { generatedKeys } from "./brokerConfig";
import { DEFAULT_IMAGE, imageVersion } from "./image";
import { DEFAULT_WATERMARK, memoryPlan } from "./memory";
import { nodesService, serviceHost } from "./places";
import { readProperties } from "./properties";
import type { ClusterShape } from "./shape";

/**
 * Checks a cluster's arguments and fills in its defaults.
 * @param fallbackName the component's name
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function clusterShape(fallbackName: string, given: RabbitMqClusterArgs): ClusterShape {
  const args = readProperties(given);
  const name = checkText("clusterName", args.clusterName ?? fallbackName, OBJECT_NAME, NAME_RULE);
  const namespace = checkText(
    "namespace",
    args.namespace,
    NAMESPACE_NAME,
    "it must be the name of a Kubernetes namespace",
  );
  const image = args.image ?? DEFAULT_IMAGE;
  imageVersion(image);
  const replicas = args.replicas ?? 3;
  if (!REPLICAS.includes(replicas)) {
    throw new DelayTopologyError("replicas", replicas, "it must be 1, 3 or 5; an even number survives no more losses");
  }
  const ingress = ingressOf(args.ingress);
  const tls = tlsOf(name, args);
  if (args.mode === ClusterMode.Operator && args.erlangCookie !== undefined) {
    throw new DelayTopologyError("erlangCookie", "a secret", "the operator makes its own; leave it out");
  }
  const managementUrl = managementUrlOf(args, { name, namespace, isEncrypted: tls !== undefined });
  return {
    name,
    namespace,
    createNamespace: checkFlag("createNamespace", args.createNamespace),
    mode: checkOneOf("mode", args.mode ?? ClusterMode.StatefulSet, Object.values(ClusterMode)),
    replicas,
    image,
    storage: storageOf(args),
    memory: memoryPlan(args.memoryMiB ?? 2048, args.memoryWatermark ?? DEFAULT_WATERMARK),
    cpu: checkText(
      "cpu",
      args.cpu ?? "1",
      /^(\d+(\.\d+)?|[1-9]\d*m)$/,
      "it must be a number of processors, e.g. 2 or 500m",
    ),
    tls: tls && { ...tls, dnsNames: certificateNames({ name, namespace, managementUrl }, args.tls?.dnsNames ?? []) },
    plugins: pluginsOf(args.plugins ?? []),
    config: configOf(args.config ?? {}),
    deadLetterPrefetch: checkInteger("deadLetterPrefetch", args.deadLetterPrefetch ?? 256, 1, 10_000),
    access: accessOf(args.access ?? {}),
    monitoring: monitoringOf(args.monitoring ?? {}),
    ingress,
    managementUrl,
    username: checkText("username", args.username ?? "administrator", /^[A-Za-z0-9._-]{1,64}$/, USERNAME_RULE),
    readyTimeoutSeconds: checkInteger("readyTimeoutSeconds", args.readyTimeoutSeconds ?? 600, 1, 86_400),
    shutdownLimitSeconds: checkInteger("shutdownLimitSeconds", args.shutdownLimitSeconds ?? 3600, 30, 604_800),
  };
}

/** Kubernetes' own rule for names of objects, shorter: suffixes, and the ordinal of a pod, must fit behind. */
const OBJECT_NAME = /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/;
const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const HOST_NAME = /^(\*\.)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/i;
const REPLICAS = [1, 3, 5];
const SMALLEST_STORAGE_GIB = 4;
const LARGEST_STORAGE_GIB = 16_384;

const NAME_RULE = "it must have 1 to 40 characters, lower-case letters, digits and -, and start with a letter";
const USERNAME_RULE = "it must have 1 to 64 letters, digits and . _ -";

function storageOf({ storage }: RabbitMqClusterArgs): ClusterShape["storage"] {
  const className = checkText(
    "storage.className",
    storage?.className,
    /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    "it must name a StorageClass; kubectl get storageclass lists them",
  );
  const sizeGiB = checkInteger("storage.sizeGiB", storage.sizeGiB ?? 20, SMALLEST_STORAGE_GIB, LARGEST_STORAGE_GIB);
  return { className, sizeGiB };
}

function tlsOf(
  name: string,
  { tls }: RabbitMqClusterArgs,
): Omit<NonNullable<ClusterShape["tls"]>, "dnsNames"> | undefined {
  if (tls === undefined) return undefined;
  const { secretName, issuer, issuerKind } = tls;
  if (secretName === undefined && issuer === undefined) {
    throw new DelayTopologyError(
      "tls.secretName",
      secretName,
      "give a Secret with a certificate, or a cert-manager issuer",
    );
  }
  if (issuer === undefined && issuerKind !== undefined) {
    throw new DelayTopologyError("tls.issuerKind", issuerKind, "it goes with issuer");
  }
  const kind = checkOneOf("tls.issuerKind", issuerKind ?? IssuerKind.ClusterIssuer, Object.values(IssuerKind));
  const known = (property: string, value: string): string => checkText(property, value, SECRET_NAME, SECRET_RULE);
  return {
    secretName: known("tls.secretName", secretName ?? `${name}-tls`),
    issuer: issuer === undefined ? undefined : { name: known("tls.issuer", issuer), kind },
  };
}

const SECRET_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const SECRET_RULE = "it must be the name of an object of Kubernetes";

/** Names by which clients, this program and the pods' own probes come. */
function certificateNames(
  { name, namespace, managementUrl }: Pick<ClusterShape, "name" | "namespace" | "managementUrl">,
  more: string[],
): string[] {
  more.forEach((host, index) => checkText(`tls.dnsNames[${index}]`, host, HOST_NAME, "it must be a host name"));
  const service = serviceHost({ name, namespace });
  const own = [name, `${name}.${namespace}`, service, `${service}.cluster.local`];
  const nodes = `*.${nodesService({ name })}.${namespace}.svc`;
  const host = new URL(managementUrl).hostname;
  return [...new Set([...own, nodes, `${nodes}.cluster.local`, "localhost", host, ...more])].filter((given) =>
    HOST_NAME.test(given),
  );
}

function managementUrlOf(
  { managementUrl, ingress }: RabbitMqClusterArgs,
  { isEncrypted, ...place }: { name: string; namespace: string; isEncrypted: boolean },
): string {
  const fallback = isEncrypted ? `https://${serviceHost(place)}:15671` : `http://${serviceHost(place)}:15672`;
  const url = managementUrl ?? (ingress === undefined ? fallback : `https://${ingress.host}`);
  const allowed = "it must be an http or https address, e.g. https://localhost:15671";
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DelayTopologyError("managementUrl", url, allowed);
  }
  return url.replace(/\/+$/, "");
}

function ingressOf(ingress: ClusterIngressArgs | undefined): ClusterShape["ingress"] {
  if (ingress === undefined) return undefined;
  return {
    host: checkText("ingress.host", ingress.host, HOST_NAME, "it must be a host name"),
    className: checkText("ingress.className", ingress.className, SECRET_NAME, "it must name an IngressClass"),
    tlsSecretName: checkText(
      "ingress.tlsSecretName",
      ingress.tlsSecretName,
      SECRET_NAME,
      "it must name a Secret with the host's certificate; the administrator's password comes this way",
    ),
    annotations: ingress.annotations ?? {},
  };
}

function pluginsOf(plugins: string[]): string[] {
  plugins.forEach((plugin, index) =>
    checkText(`plugins[${index}]`, plugin, /^[a-z][a-z0-9_]*$/, "it must be a plugin's name, e.g. rabbitmq_shovel"),
  );
  const delayed = plugins.find((plugin) => plugin === "rabbitmq_delayed_message_exchange");
  if (delayed !== undefined) {
    throw new DelayTopologyError(
      "plugins",
      delayed,
      "it is archived and no part of the image; delay networks take its place",
    );
  }
  return [...new Set(plugins)];
}

/** What this package writes itself can't be said twice: the broker would take one of both. */
function configOf(config: Record<string, string>): Record<string, string> {
  for (const [key, value] of Object.entries(config)) {
    checkText(`config`, key, /^[a-z][a-zA-Z0-9_.$-]*$/, "its keys must be settings of rabbitmq.conf");
    if (typeof value !== "string" || /[\r\n]/.test(value)) {
      throw new DelayTopologyError(`config["${key}"]`, value, "it must be one line of text");
    }
    const argument = Object.entries(generatedKeys).find(([start]) => key === start || key.startsWith(`${start}.`))?.[1];
    if (argument !== undefined) throw new DelayTopologyError(`config["${key}"]`, value, `it follows from ${argument}`);
  }
  return { ...config };
}

function accessOf(access: ClusterAccessArgs): Required<ClusterAccessArgs> {
  const list = (property: keyof ClusterAccessArgs): string[] =>
    (access[property] ?? []).map((namespace, index) =>
      checkText(
        `access.${property}[${index}]`,
        namespace,
        NAMESPACE_NAME,
        "it must be the name of a Kubernetes namespace",
      ),
    );
  return {
    clientNamespaces: list("clientNamespaces"),
    managementNamespaces: list("managementNamespaces"),
    monitoringNamespaces: list("monitoringNamespaces"),
  };
}

function monitoringOf({ serviceMonitor, dashboard, labels }: ClusterMonitoringArgs): Required<ClusterMonitoringArgs> {
  return {
    serviceMonitor: checkFlag("monitoring.serviceMonitor", serviceMonitor),
    dashboard: checkFlag("monitoring.dashboard", dashboard),
    labels: labels ?? {},
  };
}
