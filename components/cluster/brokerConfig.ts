import type { ClusterShape } from "./shape";

const MIB = 1024 * 1024;

/** Where the certificate is in a pod; both modes mount it there. */
const TLS_FOLDER = "/etc/rabbitmq-tls";

/** Free space at which a node stops taking messages, per its volume: a tenth, and 2 GiB at most, as RabbitMQ's operator has it. */
const DISK_RESERVE_PART = 10;
const DISK_RESERVE_GIB = 2;

/** What a cluster needs to know in either mode, in the order of the file. */
export function commonSettings({ replicas, memory, storage }: ClusterShape): [string, string][] {
  const reserveMiB = Math.floor(Math.min(DISK_RESERVE_GIB, storage.sizeGiB / DISK_RESERVE_PART) * 1024);
  return [
    // Who waits longer than a level's TTL in a queue of another type would be lost by the crash of a node.
    ["default_queue_type", "quorum"],
    ["quorum_queue.initial_cluster_size", String(replicas)],
    // Leaders spread over the nodes: a network's levels are many queues, and each is one process.
    ["queue_leader_locator", "balanced"],
    ["quorum_queue.continuous_membership_reconciliation.enabled", "true"],
    ["quorum_queue.continuous_membership_reconciliation.target_group_size", String(replicas)],
    // How soon a node that was cut off is given up. With RabbitMQ's own 60, one of ten messages was 65 s late or more, with 15 it
    // was 9 s (measured: 4.3.6, one node of three cut off for 20 s); below 5, busy nodes would be given up.
    ["net_ticktime", "15"],
    ["vm_memory_high_watermark.absolute", String(memory.watermarkMiB * MIB)],
    ["raft.wal_max_size_bytes", String(memory.walMiB * MIB)],
    ["disk_free_limit.absolute", String(reserveMiB * MIB)],
  ];
}

/** rabbitmq.conf of a StatefulSet's pods; the default user stands in a file of its own. */
export function rabbitmqConf(shape: ClusterShape): string {
  const { name, replicas, tls } = shape;
  const listeners: [string, string][] =
    tls === undefined
      ? [
          ["listeners.tcp.default", "5672"],
          ["management.tcp.port", "15672"],
          ["prometheus.tcp.port", "15692"],
        ]
      : [
          ["listeners.tcp", "none"],
          ["listeners.ssl.default", "5671"],
          ...encrypted("ssl_options"),
          ["management.ssl.port", "15671"],
          ...encrypted("management.ssl"),
          // Else it listens without TLS, too.
          ["prometheus.tcp.listener", "none"],
          ["prometheus.ssl.port", "15691"],
          ...encrypted("prometheus.ssl"),
        ];
  const settings: [string, string][] = [
    ["cluster_name", name],
    // The node with ordinal 0 founds the cluster and the others join it, by their names alone.
    ["cluster_formation.peer_discovery_backend", "k8s"],
    ["cluster_formation.target_cluster_size_hint", String(replicas)],
    ...listeners,
    ["auth_mechanisms.1", "PLAIN"],
    ["auth_mechanisms.2", "AMQPLAIN"],
    ...commonSettings(shape),
  ];
  return lines(settings, shape.config);
}

/** A listener's certificate, and the versions of TLS without known weaknesses. */
function encrypted(listener: string): [string, string][] {
  return [
    [`${listener}.certfile`, `${TLS_FOLDER}/tls.crt`],
    [`${listener}.keyfile`, `${TLS_FOLDER}/tls.key`],
    [`${listener}.versions.1`, "tlsv1.3"],
    [`${listener}.versions.2`, "tlsv1.2"],
  ];
}

/** What RabbitMQ's operator adds to its own rabbitmq.conf. */
export function operatorConf(shape: ClusterShape): string {
  return lines(commonSettings(shape), shape.config);
}

/** Settings that rabbitmq.conf has no key for, in Erlang's terms. */
export function advancedConfig({ deadLetterPrefetch }: ClusterShape): string {
  return `[{rabbit, [{dead_letter_worker_consumer_prefetch, ${deadLetterPrefetch}}]}].\n`;
}

/** Plugins of a StatefulSet's pods, in Erlang's terms. */
export function enabledPlugins({ plugins }: ClusterShape): string {
  const always = ["rabbitmq_management", "rabbitmq_peer_discovery_k8s", "rabbitmq_prometheus"];
  return `[${[...new Set([...always, ...plugins])].join(",")}].\n`;
}

/** rabbitmq.conf's lines for the administrator that a new cluster is born with. */
export function defaultUserConf(username: string, password: string): string {
  return `default_user = ${username}\ndefault_pass = ${password}\n`;
}

/** What the user sets comes last, and in place of a default of the same key. */
function lines(settings: [string, string][], config: Record<string, string>): string {
  const merged = new Map([...settings, ...Object.entries(config)]);
  return [...merged].map(([key, value]) => `${key} = ${value}\n`).join("");
}
