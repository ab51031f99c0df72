import { DelayTopologyError } from "../errors";

/** How a node's memory is used; all in MiB. */
export interface MemoryPlan {
  /** What Kubernetes gives it at most. */
  limitMiB: number;
  /** At which it stops taking messages. */
  watermarkMiB: number;
  /** How large the write-ahead log of its quorum queues may get, which is in memory, too. */
  walMiB: number;
}

/** RabbitMQ's own default since 4.0. */
export const DEFAULT_WATERMARK = 0.6;

/** RabbitMQ's default size of the log; its documentation wants three times that below the watermark. A quarter leaves room for queues. */
const LARGEST_WAL_MIB = 512;
const WAL_PART = 4;

/** An idle node of 4.3.6 takes 150 MiB (measured); with less than this below its watermark, little sets off its alarm. */
const SMALLEST_WATERMARK_MIB = 448;
/** What a node may need above its watermark before the system ends it: collections, and what is already on the way. */
const SMALLEST_ROOM_MIB = 256;

/**
 * Fits a node's limit, watermark and log together.
 * @param watermark part of the limit
 * @throws DelayTopologyError naming memoryMiB or memoryWatermark
 */
export function memoryPlan(limitMiB: number, watermark: number): MemoryPlan {
  if (typeof watermark !== "number" || !(watermark >= 0.3 && watermark <= 0.8)) {
    throw new DelayTopologyError("memoryWatermark", watermark, "it must be a number from 0.3 to 0.8");
  }
  const needed = Math.ceil(Math.max(SMALLEST_WATERMARK_MIB / watermark, SMALLEST_ROOM_MIB / (1 - watermark)));
  if (!Number.isInteger(limitMiB) || limitMiB < needed) {
    throw new DelayTopologyError(
      "memoryMiB",
      limitMiB,
      `it must be a whole number of at least ${needed} with a watermark of ${watermark}, so that a node has ` +
        `${SMALLEST_WATERMARK_MIB} MiB below it and ${SMALLEST_ROOM_MIB} MiB above`,
    );
  }
  const watermarkMiB = Math.floor(limitMiB * watermark);
  return { limitMiB, watermarkMiB, walMiB: Math.min(LARGEST_WAL_MIB, Math.floor(watermarkMiB / WAL_PART)) };
}
