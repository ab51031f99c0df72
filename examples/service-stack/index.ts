import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { EndpointDelayBinding, EndpointUser } from "pulumi-rabbitmq-delay";

const config = new pulumi.Config();
const endpoint = config.require("endpoint");
const name = pulumi.getProject();

// Outputs of the broker's stack, of which this stack changes nothing.
// `organization/PROJECT/STACK`, or with Pulumi Cloud your
// organization's name in the place of `organization`.
const broker = new pulumi.StackReference(config.require("brokerStack"));
const network = broker.requireOutput("delayNetwork");
const vhost = broker.requireOutput("vhost") as pulumi.Output<string>;
const amqpUrl = (config.get("amqpUrl") ??
  broker.requireOutput("amqpUrl")) as pulumi.Input<string>;

// The queue, and the binding by which its delayed messages come. A name
// that another service has is refused.
const binding = new EndpointDelayBinding(endpoint, {
  endpoint,
  network,
  createQueue: true,
});

// A user that consumes this queue, publishes into the network, and may do
// nothing else. Its password is generated.
const user = new EndpointUser(name, {
  user: name,
  credentials: [{}],
  consumes: [endpoint],
  network,
});

const labels = { "app.kubernetes.io/name": name };
const metadata = {
  namespace: config.get("namespace") ?? "default",
  labels,
};

const descriptor = new kubernetes.core.v1.ConfigMap("delay-network", {
  metadata: { ...metadata, name: `${name}-delay-network` },
  data: { "network.json": pulumi.jsonStringify(network) },
});

const login = pulumi
  .all([user.users, user.passwords, amqpUrl, vhost])
  .apply(([[login], [password], url, place]) => {
    const { protocol, host } = new URL(url);
    const path = encodeURIComponent(place);
    return `${protocol}//${login}:${password}@${host}/${path}`;
  });
const credentials = new kubernetes.core.v1.Secret("broker", {
  metadata: { ...metadata, name: `${name}-broker` },
  stringData: { RABBITMQ_URL: login },
});

new kubernetes.apps.v1.Deployment(
  "service",
  {
    metadata: { ...metadata, name },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: "service",
              image: config.require("image"),
              envFrom: [
                { secretRef: { name: credentials.metadata.name } },
              ],
              volumeMounts: [
                {
                  name: "delay-network",
                  mountPath: "/etc/delay-network",
                  readOnly: true,
                },
              ],
              resources: {
                requests: { cpu: "100m", memory: "128Mi" },
                limits: { memory: "256Mi" },
              },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
          volumes: [
            {
              name: "delay-network",
              configMap: { name: descriptor.metadata.name },
            },
          ],
        },
      },
    },
  },
  // Its queue is there before it consumes.
  { dependsOn: [binding] },
);

export const queue = binding.destination;
