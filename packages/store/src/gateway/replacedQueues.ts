import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { BrokerConnection } from "../broker/brokerConnection";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher } from "../dispatch/batchPublisher";
import { isTaken } from "../dispatch/outcomes";
import { Pace, pause } from "../resilience/pace";
import { probe, probeTo } from "./envelope";
import type { NetworkEntry } from "./networkEntry";
import type { OpenCopy } from "./openCopies";

/** The longest pause between two looks, in milliseconds. */
const LONGEST_PAUSE_MS = 300_000;
/** The shortest pause, in milliseconds. */
const SHORTEST_PAUSE_MS = 1000;
/** How many places are tried at a time. */
const MOST_PLACES = 20;

/** The parts that it works with. */
export interface ReplacedQueuesParts {
  entry: NetworkEntry;
  gateway: DelayGateway;
  /** Publishes into the network, by the channel that the copies took. */
  publisher: BatchPublisher;
  /** Makes a connection that is used once. */
  connect: () => BrokerConnection;
  confirmTimeoutMs: number;
  /** So many copies are not waited for any more. */
  onGivenUp?: (count: number) => void;
}

/**
 * Finds queues of the network that were deleted while they did not answer, and declared anew: the old one's answers never come. Where a copy
 * has waited for long, two messages that say nothing are sent. The first goes past all queues of the network, by the channel of the copy: it
 * is answered when that channel has handled all that was sent before, and does not hang. The second goes the copy's way, by another
 * connection. If both are taken, and the copy still has no answer, its queue is another one, and its original is sent again. A copy that only
 * waits behind a queue that does not answer waits on, as the first of the two does.
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

  /** @returns whether any copy was given up, or has its answer */
  private async giveUpReplaced(late: readonly OpenCopy[], signal: AbortSignal): Promise<boolean> {
    const { entry, confirmTimeoutMs, onGivenUp } = this.parts;
    if (!(await this.isAnswered(this.parts.publisher, probe(this.parts.gateway)))) return false;
    const places = new Map(late.map((copy) => [placeOf(copy), copy]));
    const answering = await this.findAnswering([...places.values()].slice(0, MOST_PLACES));
    if (answering.size === 0) return false;
    // Answers that are on their way.
    await pause(SHORTEST_PAUSE_MS, signal);
    const left = entry
      .openFor(2 * confirmTimeoutMs)
      .filter((copy) => late.includes(copy) && answering.has(placeOf(copy)));
    if (left.length === 0) return true;
    // The old channel still sends to the old queue.
    this.parts.publisher.renew();
    for (const { giveUp } of left) giveUp();
    onGivenUp?.(left.length);
    return true;
  }

  /** @returns those of the places that take messages */
  private async findAnswering(places: readonly OpenCopy[]): Promise<Set<string>> {
    const { connect, confirmTimeoutMs } = this.parts;
    const connection = connect();
    const isAnswering = ({ exchange, routingKey }: OpenCopy): Promise<boolean> => {
      const publisher = new BatchPublisher(connection, confirmTimeoutMs, { isEachSentOnce: true });
      return this.isAnswered(publisher, probeTo(exchange, routingKey));
    };
    try {
      const taken = await Promise.all(places.map(isAnswering));
      return new Set(places.filter((_, index) => taken[index]).map(placeOf));
    } finally {
      await connection.close();
    }
  }

  private async isAnswered(publisher: BatchPublisher, message: NewDelayedMessage): Promise<boolean> {
    const [outcome] = await publisher.publishAll([message]).catch(() => []);
    return isTaken(outcome);
  }
}

function placeOf({ exchange, routingKey }: OpenCopy): string {
  return `${exchange}\0${routingKey}`;
}
