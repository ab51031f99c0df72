import type { BrokerConnection } from "../broker/brokerConnection";
import { BatchPublisher } from "../dispatch/batchPublisher";
import { Pace, pause } from "../resilience/pace";
import { probeTo } from "./envelope";
import type { NetworkEntry } from "./networkEntry";
import type { OpenCopy } from "./openCopies";

/** The longest pause between two looks, in milliseconds. */
const LONGEST_PAUSE_MS = 300_000;
/** The shortest pause, in milliseconds. */
const SHORTEST_PAUSE_MS = 1000;
/** How many places are tried at a time, each on a channel of its own. */
const MOST_PLACES = 20;

/** The parts that it works with. */
export interface ReplacedQueuesParts {
  entry: NetworkEntry;
  /** Uses another channel for what is sent into the network from then on. */
  renew: () => void;
  /** Makes a connection that is used once. */
  connect: () => BrokerConnection;
  confirmTimeoutMs: number;
  /** So many copies are not waited for any more. */
  onGivenUp?: (count: number) => void;
}

/**
 * Finds queues of the network that were deleted while they did not answer, and declared anew: the old one's answers never come. Where a copy
 * has waited for long, a message that says nothing is sent the same way; if that one is taken, and the copy has no answer soon after it,
 * its original is sent again.
 */
export class ReplacedQueues {
  constructor(private readonly parts: ReplacedQueuesParts) {}

  /** Looks until the signal. */
  async watch(signal: AbortSignal): Promise<void> {
    const { entry, confirmTimeoutMs } = this.parts;
    const pace = new Pace(LONGEST_PAUSE_MS);
    while (!signal.aborted) {
      await pause(Math.max(SHORTEST_PAUSE_MS, confirmTimeoutMs), signal);
      const late = entry.openFor(2 * confirmTimeoutMs);
      if (late.length === 0) pace.reset();
      else if (!signal.aborted && !(await this.giveUpReplaced(late, signal))) await pace.pauseAfterFailure(signal);
    }
  }

  /** @returns whether any copy was given up */
  private async giveUpReplaced(late: readonly OpenCopy[], signal: AbortSignal): Promise<boolean> {
    const { entry, renew, confirmTimeoutMs, onGivenUp } = this.parts;
    const places = new Map(late.map((copy) => [placeOf(copy), copy]));
    const answering = await this.findAnswering([...places.values()].slice(0, MOST_PLACES));
    if (answering.size === 0) return false;
    // One that hung only for a while answers all of them.
    await pause(confirmTimeoutMs, signal);
    const left = entry.openFor(2 * confirmTimeoutMs).filter((copy) => answering.has(placeOf(copy)));
    if (left.length === 0) return true;
    renew();
    for (const { giveUp } of left) giveUp();
    onGivenUp?.(left.length);
    return true;
  }

  /** @returns those of the places that take messages */
  private async findAnswering(places: readonly OpenCopy[]): Promise<Set<string>> {
    const { connect, confirmTimeoutMs } = this.parts;
    const connection = connect();
    const isTaken = async ({ exchange, routingKey }: OpenCopy): Promise<boolean> => {
      const publisher = new BatchPublisher(connection, confirmTimeoutMs, { isEachSentOnce: true });
      const [outcome] = await publisher.publishAll([probeTo(exchange, routingKey)]).catch(() => []);
      return outcome !== undefined && outcome.error === undefined;
    };
    try {
      const taken = await Promise.all(places.map(isTaken));
      return new Set(places.filter((_, index) => taken[index]).map(placeOf));
    } finally {
      await connection.close();
    }
  }
}

function placeOf({ exchange, routingKey }: OpenCopy): string {
  return `${exchange}\0${routingKey}`;
}
