import type { EntityChange } from "../preview/entityChange";
import type { RuleName } from "./rules";

/** The definition of an object that belongs to a broker's platform, if it can be read. */
type Values = Record<string, unknown> | undefined;

/** What a change of a cluster's part does to messages; undefined if nothing. */
export function judgeClusterPart(change: EntityChange): RuleName | undefined {
  const { action, isRetained, kind } = change;
  if (action === "create" || action === "same") return undefined;
  if (isRetained && action !== "update") return action === "delete" ? "resource-kept" : "resource-kept-and-replaced";
  if (action === "update") return judgeUpdate(change);
  switch (kind) {
    case "namespace":
      return "namespace-deleted";
    case "cluster":
    case "volume":
      return "cluster-deleted";
    case "nodes":
      return keepsVolumes(change.before) ? "nodes-stop" : "cluster-deleted";
    case "secret":
      return change.partOf === "RabbitMqCluster" ? "cluster-secret-gone" : "part-changed";
    case "definition":
      return "cluster-deleted";
    default:
      return "part-changed";
  }
}

function judgeUpdate(change: EntityChange): RuleName | undefined {
  const { kind, before, after, causes } = change;
  if (causes.length === 0 && before !== undefined && after !== undefined) return undefined;
  if (kind === "nodes" || kind === "cluster") {
    const [earlier, later] = [replicasOf(before), replicasOf(after)];
    if (later < earlier) return "nodes-fewer";
    // A pod that comes back without its volume comes back empty.
    if (kind === "nodes" && !keepsVolumes(before) && !hasVolumes(after)) return "cluster-deleted";
    return "nodes-restart";
  }
  return "part-changed";
}

/** Whether a StatefulSet's volumes outlive it: it has some, and does not say that they are deleted. If it can't be read, they don't. */
function keepsVolumes(values: Values): boolean {
  const spec = specOf(values);
  const policy = spec?.persistentVolumeClaimRetentionPolicy as { whenDeleted?: unknown } | undefined;
  const isKept =
    policy === undefined || policy === null || [undefined, "Retain"].includes(policy.whenDeleted as string);
  return hasVolumes(values) && isKept;
}

function hasVolumes(values: Values): boolean {
  const claims = specOf(values)?.volumeClaimTemplates;
  return Array.isArray(claims) && claims.length > 0;
}

function replicasOf(values: Values): number {
  const replicas = specOf(values)?.replicas ?? 1;
  return typeof replicas === "number" ? replicas : NaN;
}

function specOf(values: Values): Record<string, unknown> | undefined {
  const spec = values?.spec;
  return typeof spec === "object" && spec !== null ? (spec as Record<string, unknown>) : undefined;
}

/** Types of resources in which a broker may run or keep its messages. */
const HOLDERS =
  /^(kubernetes|docker|docker-build|helm|nomad|podman|cloudamqp|openstack|hcloud|digitalocean|proxmox\w*|vsphere|libvirt|aws:(mq|ecs|ec2|ebs|efs|lightsail|eks|cloudformation)|aws-native:(amazonmq|ecs|ec2|eks)|awsx:ecs|gcp:(compute|container|cloudrun\w*)|google-native:(compute|container)|azure|azure-native:(compute|containerinstance|containerservice|app|resources))[:/]/i;

/**
 * Whether a resource outside this project's components looks like the broker itself: a cluster of the operator, a cloud service, or a
 * chart, container or volume that names RabbitMQ.
 */
export function looksLikeBroker({ type, kind, name, before, after }: EntityChange): boolean {
  if (/rabbitmq-delay:|^rabbitmq:|^pulumi:providers/.test(type)) return false;
  if (kind === "cluster" || /^cloudamqp:|rabbitmq/i.test(type)) return true;
  if (/^aws(-native)?:(mq|amazonmq)[:/]/i.test(type)) {
    const engine = (before ?? after)?.engineType;
    return typeof engine !== "string" || !/^activemq$/i.test(engine);
  }
  return HOLDERS.test(type) && /rabbitmq/i.test(`${name} ${JSON.stringify(before ?? after ?? {})}`);
}

/** What the loss of such a resource means: most keep no data, and those whose data is deleted with them are judged accordingly. */
export function judgeForeignHolder(change: EntityChange): RuleName | undefined {
  const { action, isRetained, kind, type } = change;
  if (action === "create" || action === "same") return undefined;
  if (isRetained && action !== "update") return action === "delete" ? "resource-kept" : "resource-kept-and-replaced";
  if (["namespace", "cluster", "nodes", "volume", "definition"].includes(kind)) return judgeClusterPart(change);
  // Parts of Kubernetes that keep no data, whatever is written in them.
  if (
    kind !== "other" ||
    /:(Job|CronJob|Role|RoleBinding|ClusterRole|ClusterRoleBinding|HorizontalPodAutoscaler)$/.test(type)
  ) {
    return "other-changed";
  }
  return action === "update" ? "nodes-restart" : "cluster-deleted";
}
