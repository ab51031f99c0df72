import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import { checkBrokerAddress } from "@rabbitmq-delay/topology/stack";
import { makeObject } from "../cluster/makeObject";
import type { ConfigMap, Deployment, KubernetesObject, PodDisruptionBudget, Secret } from "../cluster/manifest";
import { checkedLater } from "../laterValues";
import { restrictedContainer } from "../restrictedContainer";

/** What every process on Kubernetes is made from. */
interface ProcessSettings {
  namespace: string;
  image: string;
  amqpUrl: pulumi.Input<string>;
  replicas: number;
  memoryMiB: number;
  caSecret?: string;
}

/** A variable whose value is in a Secret. */
interface EnvironmentVariable {
  name: string;
  valueFrom: { secretKeyRef: { name: string; key: string } };
}

/** A kind of process, as it runs on Kubernetes. */
export interface DeployedProcess {
  settings: ProcessSettings;
  /** Last part of the objects' names, e.g. `delayed-store`. */
  kind: string;
  /** Name of the container. */
  container: string;
  /** The command, which gets `--descriptor` and `--http`. */
  command: string[];
  httpPort: number;
  /** Folder and file of its descriptor. */
  descriptor: { folder: string; file: string };
  /** Start of the names of the variables that are its settings. */
  settingsPrefix: string;
  /** Further variables of its environment. */
  env: EnvironmentVariable[];
}

const MIB = 1 << 20;
const CA_FOLDER = "/etc/broker-authority";
/**
 * Part of the memory that the bodies of a queue in hand may take: beside it there are those that are just read or written. With bodies of
 * 10 MB, a gateway with 8 of 256 MiB took 243 at most, and a store with 16 of 512 MiB took 363 (measured).
 */
const BODIES_PART = 1 / 32;
/** For batches in hand, which take seconds, and what stands between. */
const SHUTDOWN_SECONDS = 60;

/** What the process logs in with. */
export interface ProcessLogin {
  user: pulumi.Output<string>;
  password: pulumi.Output<string>;
  vhost: pulumi.Input<string>;
}

/**
 * Makes the process with its address of the broker in a Secret and its descriptor in a ConfigMap, as children of the component.
 * @param before what has to be there before it starts
 */
export function declareDeployment(
  name: string,
  process: DeployedProcess,
  descriptor: pulumi.Input<object>,
  { user, password, vhost }: ProcessLogin,
  options: pulumi.CustomResourceOptions,
  before: pulumi.Resource[] = [],
): void {
  const objectName = `${name}-${process.kind}`.toLowerCase();
  const labels = { "app.kubernetes.io/name": objectName, "app.kubernetes.io/component": process.kind };
  const { namespace, amqpUrl } = process.settings;
  const metadata = { name: objectName, namespace, labels };
  // A URL as a whole would become an output with nothing in it.
  const checked = checkedLater(amqpUrl, (address) => {
    const { protocol, host } = checkBrokerAddress("deployment.amqpUrl", address);
    return { protocol, host };
  });
  const url = pulumi.all([user, password, vhost, checked]).apply(([login, secret, place, { protocol, host }]) => {
    return `${protocol}//${encodeURIComponent(login)}:${encodeURIComponent(secret)}@${host}/${encodeURIComponent(place)}`;
  });
  const make = (object: KubernetesObject, dependsOn: pulumi.Resource[] = []): pulumi.Resource =>
    makeObject(`${name}-${object.kind}`, object, { ...options, dependsOn });
  const json = pulumi.output(descriptor).apply((known) => JSON.stringify(known));
  const config = [make(secretManifest(metadata, url)), make(descriptorManifest(metadata, process, json))];
  const annotations = {
    [DESCRIPTOR_ANNOTATION]: json.apply(hashOf),
    [LOGIN_ANNOTATION]: nameOfLogin(name, url, options),
  };
  make(deploymentManifest(metadata, process, annotations), [...config, ...before]);
  make(budgetManifest(metadata));
}

/** Of the pods, so that another descriptor makes new ones; a process reads it when it starts. */
const DESCRIPTOR_ANNOTATION = "rabbitmq-delay/descriptor";
/** The same for the address of the broker with its login. */
const LOGIN_ANNOTATION = "rabbitmq-delay/login";

function hashOf(json: string): string {
  return createHash("sha256").update(json).digest("hex");
}

/** A random name that is another one for another login, and says nothing of it; a hash would let a simple password be guessed. */
function nameOfLogin(
  name: string,
  url: pulumi.Output<string>,
  options: pulumi.CustomResourceOptions,
): pulumi.Output<string> {
  const keepers = { url: pulumi.secret(url) };
  return pulumi.unsecret(new random.RandomUuid(`${name}-login`, { keepers }, options).result);
}

interface Metadata {
  name: string;
  namespace: string;
  labels: Record<string, string>;
}

function secretManifest(metadata: Metadata, url: pulumi.Output<string>): Secret {
  return { kind: "Secret", metadata, type: "Opaque", stringData: { RABBITMQ_URL: pulumi.secret(url) } };
}

function descriptorManifest(
  metadata: Metadata,
  { descriptor }: DeployedProcess,
  json: pulumi.Output<string>,
): ConfigMap {
  return { kind: "ConfigMap", metadata, data: { [descriptor.file]: json } };
}

/** An instance that is told to end finishes what it has in hand; while there are two, one is always there. */
function deploymentManifest(
  metadata: Metadata,
  process: DeployedProcess,
  annotations: Record<string, pulumi.Input<string>>,
): Deployment {
  const { image, caSecret, replicas, memoryMiB } = process.settings;
  const { name, labels } = metadata;
  const { folder, file } = process.descriptor;
  const http = { port: "http" };
  return {
    kind: "Deployment",
    metadata,
    spec: {
      replicas,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": String(process.httpPort),
            ...annotations,
          },
        },
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: SHUTDOWN_SECONDS,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            runAsGroup: 1000,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: process.container,
              image,
              command: process.command,
              args: ["--descriptor", `${folder}/${file}`, "--http", `0.0.0.0:${process.httpPort}`],
              env: [
                ...process.env,
                // V8 leaves a quarter to what is not its heap.
                { name: "NODE_OPTIONS", value: `--max-old-space-size=${Math.floor(memoryMiB * 0.75)}` },
                {
                  name: `${process.settingsPrefix}_BODY_MEMORY_BYTES`,
                  value: String(Math.floor(memoryMiB * MIB * BODIES_PART)),
                },
                ...(caSecret === undefined ? [] : [{ name: "NODE_EXTRA_CA_CERTS", value: `${CA_FOLDER}/ca.crt` }]),
              ],
              envFrom: [{ secretRef: { name } }],
              ports: [{ name: "http", containerPort: process.httpPort, protocol: "TCP" }],
              readinessProbe: { httpGet: { ...http, path: "/readyz" }, periodSeconds: 5, failureThreshold: 3 },
              livenessProbe: {
                httpGet: { ...http, path: "/healthz?triggered" },
                periodSeconds: 10,
                failureThreshold: 6,
              },
              resources: { requests: { cpu: "250m", memory: `${memoryMiB}Mi` }, limits: { memory: `${memoryMiB}Mi` } },
              securityContext: restrictedContainer,
              volumeMounts: [
                { name: "descriptor", mountPath: folder, readOnly: true },
                // Bodies for which there is no memory wait there.
                { name: "temporary", mountPath: "/tmp" },
                ...(caSecret === undefined ? [] : [{ name: "authority", mountPath: CA_FOLDER, readOnly: true }]),
              ],
            },
          ],
          volumes: [
            { name: "descriptor", configMap: { name } },
            { name: "temporary", emptyDir: {} },
            ...(caSecret === undefined
              ? []
              : [{ name: "authority", secret: { secretName: caSecret, items: [{ key: "ca.crt", path: "ca.crt" }] } }]),
          ],
        },
      },
    },
  };
}

function budgetManifest(metadata: Metadata): PodDisruptionBudget {
  return {
    kind: "PodDisruptionBudget",
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: metadata.labels } },
  };
}
