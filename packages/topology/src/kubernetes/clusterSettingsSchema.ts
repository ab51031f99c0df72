import type { z } from "zod";
import { recordOf, textLike } from "../schema/fields";
import { lazily, zod } from "../schema/zod";

/** Settings that properties of a cluster make: start of the key, and the property; `config` may not have them. */
const generatedKeys: Record<string, string> = {
  cluster_name: "clusterName",
  cluster_formation: "mode and replicas",
  listeners: "tls",
  ssl_options: "tls",
  "management.tcp": "tls",
  "management.ssl": "tls",
  "prometheus.tcp": "tls",
  "prometheus.ssl": "tls",
  default_user: "username",
  default_pass: "password",
  default_queue_type: "the networks, whose queues are quorum queues",
  vm_memory_high_watermark: "memoryMiB and memoryWatermark",
  total_memory_available_override_value: "memoryMiB",
  "raft.wal_max_size_bytes": "memoryMiB and memoryWatermark",
  disk_free_limit: "storage.sizeGiB",
};

const ONE_LINE = "it must be one line of text";

/** Further settings of rabbitmq.conf by their keys. What properties make can't be said twice: the broker would take one of both. */
export const settingsSchema = lazily(() =>
  recordOf(textLike(/^[^\r\n]*$/, ONE_LINE), {
    name: zod()
      .string()
      .regex(/^[a-z][a-zA-Z0-9_.$-]*$/),
    what: "a text",
    names: "its keys must be settings of rabbitmq.conf",
  }).check(refuseGenerated),
);

function refuseGenerated({ value, issues }: z.core.ParsePayload<Record<string, string>>): void {
  for (const key of Object.keys(value)) {
    const property = generatedBy(key);
    if (property === undefined) continue;
    issues.push({ code: "custom", input: value[key], path: [key], message: `it follows from ${property}` });
  }
}

/** The property of a cluster that makes a setting. */
function generatedBy(key: string): string | undefined {
  return Object.entries(generatedKeys).find(([start]) => key === start || key.startsWith(`${start}.`))?.[1];
}
