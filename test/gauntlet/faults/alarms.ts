import type { Broker } from "../broker";

/** The broker takes nothing from publishers for a while, because it says that memory or disk are short. */
export async function raiseAlarm(broker: Broker, kind: "memory-alarm" | "disk-alarm", forMs: number): Promise<void> {
  const [command, low, usual] =
    kind === "memory-alarm"
      ? (["set_vm_memory_high_watermark", "0.00001", "0.4"] as const)
      : (["set_disk_free_limit", "900000GB", "50MB"] as const);
  await broker.control(command, low);
  try {
    await new Promise((resolve) => setTimeout(resolve, forMs));
  } finally {
    await broker.control(command, usual);
  }
}
