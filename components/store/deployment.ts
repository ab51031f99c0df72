import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import { DelayTopologyError, DelayedStore } from "@rabbitmq-delay/topology";
import { checkInteger } from "@rabbitmq-delay/topology/stack";
import { checkText } from "../checks";
import { makeObject } from "../cluster/makeObject";
import type { ConfigMap, Deployment, KubernetesObject, PodDisruptionBudget, Secret } from "../cluster/manifest";
import { Properties, checkArguments } from "../knownArguments";
import { restrictedContainer } from "../restrictedContainer";

const KNOWN: Properties<StoreDeploymentArgs> = {
  namespace: true,
  image: true,
  amqpUrl: true,
  databaseSecret: true,
  databaseSecretKey: true,
  replicas: true,
  memoryMiB: true,
  caSecret: true,
};

/** The store's process on Kubernetes, beside its database. */
export interface StoreDeploymentArgs {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: pulumi.Input<string>;
  /** Name of the Secret with the address of the database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  databaseSecret: string;
  /** Its key, default `url`. Pods that run go on with what the Secret held when they started (`kubectl rollout restart`). */
  databaseSecretKey?: string;
  /** Instances side by side, 1 to 10; default 2. PostgreSQL keeps them from delivering twice. */
  replicas?: number;
  /** Memory of each in MiB, at least 256; default 512. */
  memoryMiB?: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/** Without a protocol, or a login as of an address; `@` stands before a digest alone. */
const IMAGE = /^(?!.*:\/\/)(?!.*@(?!sha256:))\S+:[^\s/]+$/s;
const HTTP_PORT = 9478;
const MOST_REPLICAS = 10;
/** The store takes 270 MiB with a million messages pending (measured, bench/storeLateness.ts), so 256 is for small ones. */
const LEAST_MEMORY_MIB = 256;
const MOST_MEMORY_MIB = 65_536;
const DESCRIPTOR_FOLDER = "/etc/delayed-store";
const CA_FOLDER = "/etc/broker-authority";
/** For batches in hand, which take seconds, and what stands between. */
const SHUTDOWN_SECONDS = 60;

/** @throws DelayTopologyError that names the refused property, its value and what is allowed */
export function checkDeployment(args: StoreDeploymentArgs, hasUser: boolean): void {
  checkArguments(KNOWN, args, "deployment", "deployment.");
  const { namespace, image, databaseSecret, caSecret, amqpUrl, replicas = 2, memoryMiB = 512 } = args;
  const names = { namespace, databaseSecret, ...(caSecret === undefined ? {} : { caSecret }) };
  for (const [property, value] of Object.entries(names)) {
    checkText(`deployment.${property}`, shown(value), NAME, "it must name an object of Kubernetes");
  }
  checkText("deployment.image", shown(image), IMAGE, "it must be an image with a tag");
  if (amqpUrl === undefined || typeof amqpUrl === "string") checkAmqpUrl(amqpUrl);
  checkInteger("deployment.replicas", replicas, 1, MOST_REPLICAS);
  checkInteger("deployment.memoryMiB", memoryMiB, LEAST_MEMORY_MIB, MOST_MEMORY_MIB);
  if (hasUser) return;
  throw new DelayTopologyError("user", undefined, "a deployment needs the store's user, so that it can log in");
}

function checkAmqpUrl(url: string | undefined): URL {
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^amqps?:$/.test(parsed.protocol) && parsed.username === "") return parsed;
  throw new DelayTopologyError("deployment.amqpUrl", shown(url), "it must be like amqps://host:5671, without a user");
}

/** A text as a message may show it: one that is no name of anything may be an address with a login, or a key. */
function shown<T>(value: T): T | string {
  const isName = typeof value !== "string" || (/^[\w.:/-]*$/.test(value) && !value.includes("://"));
  return isName || IMAGE.test(value) ? value : "a text that is not shown";
}

/** What the process logs in with. */
export interface StoreLogin {
  user: pulumi.Output<string>;
  password: pulumi.Output<string>;
  vhost: pulumi.Input<string>;
}

/** Makes the process with its address of the broker in a Secret and its descriptor in a ConfigMap, as children of the component. */
export function declareDeployment(
  name: string,
  args: StoreDeploymentArgs,
  store: DelayedStore,
  { user, password, vhost }: StoreLogin,
  options: pulumi.CustomResourceOptions,
): void {
  const objectName = `${name}-delayed-store`.toLowerCase();
  const url = pulumi.all([user, password, vhost, args.amqpUrl]).apply(([login, secret, place, address]) => {
    const { protocol, host } = checkAmqpUrl(address);
    return `${protocol}//${encodeURIComponent(login)}:${encodeURIComponent(secret)}@${host}/${encodeURIComponent(place)}`;
  });
  const make = (object: KubernetesObject, dependsOn: pulumi.Resource[] = []): pulumi.Resource =>
    makeObject(`${name}-${object.kind}`, object, { ...options, dependsOn });
  const config = [make(secretManifest(objectName, args, url)), make(descriptorManifest(objectName, args, store))];
  const annotations = { [DESCRIPTOR_ANNOTATION]: hashOf(store), [LOGIN_ANNOTATION]: nameOfLogin(name, url, options) };
  make(deploymentManifest(objectName, args, annotations), config);
  make(budgetManifest(objectName, args));
}

/** Of the pods, so that another descriptor makes new ones; a process reads it when it starts. */
const DESCRIPTOR_ANNOTATION = "rabbitmq-delay/descriptor";
/** The same for the address of the broker with its login. */
const LOGIN_ANNOTATION = "rabbitmq-delay/login";

function hashOf(store: DelayedStore): string {
  return createHash("sha256").update(JSON.stringify(store)).digest("hex");
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

function labelsOf(name: string): Record<string, string> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/component": "delayed-store" };
}

function secretManifest(name: string, { namespace }: StoreDeploymentArgs, url: pulumi.Output<string>): Secret {
  return {
    kind: "Secret",
    metadata: { name, namespace, labels: labelsOf(name) },
    type: "Opaque",
    stringData: { RABBITMQ_URL: pulumi.secret(url) },
  };
}

function descriptorManifest(name: string, { namespace }: StoreDeploymentArgs, store: DelayedStore): ConfigMap {
  return {
    kind: "ConfigMap",
    metadata: { name, namespace, labels: labelsOf(name) },
    data: { "store.json": JSON.stringify(store) },
  };
}

/** An instance that is told to end finishes what it has in hand; while there are two, one is always there. */
function deploymentManifest(
  name: string,
  args: StoreDeploymentArgs,
  annotations: Record<string, pulumi.Input<string>>,
): Deployment {
  const { namespace, image, databaseSecret, databaseSecretKey = "url", caSecret, replicas = 2, memoryMiB = 512 } = args;
  const labels = labelsOf(name);
  const http = { port: "http" };
  return {
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": String(HTTP_PORT), ...annotations },
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
              name: "store",
              image,
              command: ["rabbitmq-delay", "store", "run", "--exit-on-critical"],
              args: ["--descriptor", `${DESCRIPTOR_FOLDER}/store.json`, "--http", `0.0.0.0:${HTTP_PORT}`],
              env: [
                {
                  name: "RABBITMQ_DELAY_STORE",
                  valueFrom: { secretKeyRef: { name: databaseSecret, key: databaseSecretKey } },
                },
                // V8 leaves a quarter to what is not its heap.
                { name: "NODE_OPTIONS", value: `--max-old-space-size=${Math.floor(memoryMiB * 0.75)}` },
                ...(caSecret === undefined ? [] : [{ name: "NODE_EXTRA_CA_CERTS", value: `${CA_FOLDER}/ca.crt` }]),
              ],
              envFrom: [{ secretRef: { name } }],
              ports: [{ name: "http", containerPort: HTTP_PORT, protocol: "TCP" }],
              readinessProbe: { httpGet: { ...http, path: "/readyz" }, periodSeconds: 5, failureThreshold: 3 },
              livenessProbe: { httpGet: { ...http, path: "/healthz" }, periodSeconds: 10, failureThreshold: 6 },
              resources: { requests: { cpu: "250m", memory: `${memoryMiB}Mi` }, limits: { memory: `${memoryMiB}Mi` } },
              securityContext: restrictedContainer,
              volumeMounts: [
                { name: "descriptor", mountPath: DESCRIPTOR_FOLDER, readOnly: true },
                ...(caSecret === undefined ? [] : [{ name: "authority", mountPath: CA_FOLDER, readOnly: true }]),
              ],
            },
          ],
          volumes: [
            { name: "descriptor", configMap: { name } },
            ...(caSecret === undefined
              ? []
              : [{ name: "authority", secret: { secretName: caSecret, items: [{ key: "ca.crt", path: "ca.crt" }] } }]),
          ],
        },
      },
    },
  };
}

function budgetManifest(name: string, { namespace }: StoreDeploymentArgs): PodDisruptionBudget {
  const labels = labelsOf(name);
  return {
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  };
}
