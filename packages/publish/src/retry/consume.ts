import type { AmqplibConsumerChannel } from "../channels";
import { tell } from "../listener";
import { ownCopy } from "../ownCopy";
import { Slots } from "../slots";
import { abortAudience } from "./abortAudience";
import { ConsumePort, OpenDelivery, toConsumePort } from "./consumePort";
import { CheckedOptions, RetryConsumerOptions, RetryEvent, RetryHandler, checkOptions } from "./consumerOptions";
import type { TriedMessage } from "./delivery";
import { Failure, HandlerTimeoutError, errorText } from "./failure";
import { openLook } from "./look";
import { outletOf } from "./outlet";
import { Recoverer, unreadable } from "./recoverer";
import { checkWaysOut, closedError } from "./startCheck";
import { withinTime } from "./timeLimit";

/** A running consumer. */
export interface RetryConsumer {
  /**
   * Takes no more messages, lets the handlers at work finish, and gives the other messages back; resolves when that is done. It does not
   * wait for a handler whose time was over. It waits at most 5 seconds for the broker's answer that it sends no more messages: on a
   * connection that the broker blocks because of an alarm, that answer does not come. Close the channel or the connection then; the broker
   * delivers everything it holds again. If a handler of the same consumer awaits it, it never ends, because it waits for that handler.
   */
  stop(): Promise<void>;
  /** Resolves when the consumer has stopped; rejects when its channel closed or the broker cancelled it. */
  readonly ended: Promise<void>;
}

/**
 * The pause before a message is given back because its copy could not be published; otherwise it would come again at once. It doubles each
 * time.
 */
const GIVE_BACK_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 16_000;
/** How long to wait for the broker's answer that a consumer is cancelled. */
const CANCEL_LIMIT_MS = 5000;
/** How long a handler may take to end after its abort; if it takes longer, its message can't be tried again at once. */
const ENDING_MS = 1000;

/** What is known of one message at work. */
interface Work {
  /** A handler that goes on although its time is over; resolves when it has ended. */
  overtime?: Promise<void>;
}

/**
 * Consumes a queue. A failed message is tried again at once as often as the policy says, then published as a copy that comes back later,
 * and finally published to the error queue. The copy is confirmed before the original is acknowledged: a crash in between makes a
 * duplicate, never a loss.
 * @param channel amqplib's confirm channel, owned by the caller; a refusal of the broker closes it and rejects `ended`. The channel needs
 * no listener for its errors, but its connection needs one, or Node ends the process
 * @throws DelayTopologyError for a delay of the policy that the mechanism's queues don't have, a bad option, or an exchange, a queue or a
 * right that failed messages need and that is missing; MessageRefusedError for another kind of channel; the broker's error when the queue
 * itself is missing, or an Error when it has not answered within `confirmTimeoutMs`
 * @example
 * ```ts
 * import { connect } from "amqplib";
 * import { RetryPolicy, consumeWithRetries, throughHoldsOnDemand } from "@rabbitmq-delay/publish";
 *
 * const channel = await (await connect("amqp://localhost")).createConfirmChannel();
 * await consumeWithRetries(channel, "Billing", ({ body }) => console.log(JSON.parse(body.toString())), {
 *   policy: RetryPolicy.immediate(2).intervals(["5s", "1m"]),
 *   mechanism: throughHoldsOnDemand(),
 * });
 * ```
 */
export async function consumeWithRetries(
  channel: AmqplibConsumerChannel,
  queue: string,
  handler: RetryHandler,
  options: RetryConsumerOptions,
): Promise<RetryConsumer> {
  const checked = checkOptions(queue, handler, options);
  const port = toConsumePort(channel);
  const { prefetch, confirmTimeoutMs } = checked;
  const outlet = outletOf(channel as object, { maxUnconfirmed: prefetch, confirmTimeoutMs });
  const consumer = new QueueConsumer(port, new Recoverer(outlet, queue, checked), queue, handler, checked);
  const starting = async (): Promise<void> => {
    await checkWaysOut(openLook(channel), queue, checked);
    await consumer.start();
  };
  try {
    await withinTime(starting(), confirmTimeoutMs, () => lateStart(queue, confirmTimeoutMs));
  } catch (error) {
    void consumer.stop();
    throw error;
  }
  return consumer;
}

function lateStart(queue: string, limitMs: number): Error {
  return new Error(
    `the broker did not let the consumer of ${queue} start within confirmTimeoutMs, ${limitMs} ms; during an alarm it answers nothing on ` +
      "a connection that has published: consume over a connection of its own",
  );
}

class QueueConsumer implements RetryConsumer {
  readonly ended: Promise<void>;
  private readonly slots: Slots;
  private readonly running = new Set<Promise<void>>();
  private readonly aborting = new AbortController();
  private cancel: () => Promise<void> = () => Promise.resolve();
  private letGo: () => void = () => undefined;
  private isCancelled = false;
  private readonly warnings = new Set<string>();
  /** Functions that end the pauses of messages that will be given back. */
  private readonly pauses = new Set<() => void>();
  private stopping: Promise<void> | undefined;
  private isClosed = false;
  /** Resolves when the consumer stops or its channel has closed. */
  private readonly halted: Promise<void>;
  private halt: () => void = () => undefined;
  private end: (error?: Error) => void = () => undefined;

  constructor(
    private readonly port: ConsumePort,
    private readonly recoverer: Recoverer,
    private readonly queue: string,
    private readonly handler: RetryHandler,
    private readonly options: CheckedOptions,
  ) {
    this.slots = new Slots(options.concurrency);
    this.ended = new Promise((resolve, reject) => {
      this.end = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.halted = new Promise((resolve) => (this.halt = resolve));
    // Avoids an unhandled rejection, which would end the process, if nobody awaits `ended`.
    this.ended.catch(() => undefined);
    void this.halted.then(() => this.pauses.forEach((endPause) => endPause()));
  }

  async start(): Promise<void> {
    if (this.stopping !== undefined) return;
    const { prefetch, signal } = this.options;
    let forgetAbort: () => void = () => undefined;
    const forgetClose = this.port.onClose((reason) => this.onClose(reason));
    // A channel and a signal may outlive many consumers.
    this.letGo = () => {
      forgetClose();
      forgetAbort();
    };
    try {
      await this.port.prefetch(prefetch);
      if (this.isStopping()) return;
      this.cancel = await this.port.consume(this.queue, (delivery) => this.onDelivery(delivery));
    } catch (error) {
      this.letGo();
      throw error;
    }
    // The consumer was stopped while nobody waited for the start any longer.
    if (this.isStopping()) void this.cancel();
    else if (signal?.aborted) this.abort();
    else if (!this.isClosed && signal !== undefined) forgetAbort = abortAudience(signal).add(() => this.abort());
  }

  private abort(): void {
    this.aborting.abort(this.options.signal?.reason);
    void this.stop();
  }

  private isStopping(): boolean {
    return this.stopping !== undefined;
  }

  stop(): Promise<void> {
    return (this.stopping ??= this.finish());
  }

  private async finish(): Promise<void> {
    this.halt();
    if (!this.isClosed && !this.isCancelled) {
      const late = new Error("no answer");
      await withinTime(this.cancel(), CANCEL_LIMIT_MS, () => late).catch(() => undefined);
    }
    // Messages that came before the broker heard of the cancel are given back, too.
    while (this.running.size > 0) await Promise.all(this.running);
    this.letGo();
    this.end();
  }

  private onClose(reason: Error | undefined): void {
    this.isClosed = true;
    this.halt();
    this.letGo();
    this.aborting.abort(new Error("the channel closed"));
    if (this.stopping === undefined) this.end(closedError(this.queue, reason));
  }

  private onDelivery(delivery: OpenDelivery | undefined): void {
    if (delivery === undefined) {
      this.isCancelled = true;
      this.end(new Error(`the broker cancelled the consumer of ${this.queue}; was the queue deleted?`));
      void this.stop();
      return;
    }
    const work = this.inTurn(delivery).finally(() => this.running.delete(work));
    this.running.add(work);
  }

  /**
   * Waits until a handler is free; deliveries that still wait when the consumer stops are given back untried. A handler that goes on
   * although its time is over is not free, but its message is settled.
   */
  private async inTurn(delivery: OpenDelivery): Promise<void> {
    await this.slots.take();
    const work: Work = {};
    let isSettled = true;
    try {
      if (this.isClosed) return;
      if (this.stopping !== undefined) delivery.giveBack();
      else isSettled = await this.process(delivery, work);
    } finally {
      if (work.overtime === undefined) this.slots.giveBack();
      else void Promise.race([work.overtime, this.halted]).then(() => this.slots.giveBack());
    }
    if (!isSettled) await this.giveBackLater(delivery);
  }

  /** Resolves with false if the message could not be passed on: whatever goes wrong, e.g. a copy that is not accepted, gives it back. */
  private async process(delivery: OpenDelivery, work: Work): Promise<boolean> {
    try {
      await this.settle(delivery, work);
      return true;
    } catch (error) {
      this.report({ kind: "given-back", error });
      return false;
    }
  }

  /** Gives a message back after a pause, during which the handler is free for other messages. Stopping the consumer ends the pause. */
  private async giveBackLater({ giveBack, isRedelivered, properties: { headers = {} } }: OpenDelivery): Promise<void> {
    const times = isRedelivered ? Number(headers["x-acquired-count"] ?? headers["x-delivery-count"] ?? 0) : 0;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, GIVE_BACK_PAUSE_MS * 2 ** (times || 0));
    if (this.stopping === undefined && !this.isClosed) {
      await new Promise<void>((resolve) => {
        const endPause = (): void => {
          clearTimeout(timer);
          this.pauses.delete(endPause);
          resolve();
        };
        const timer = setTimeout(endPause, pauseMs);
        this.pauses.add(endPause);
      });
    }
    if (!this.isClosed) giveBack();
  }

  private async settle(delivery: OpenDelivery, work: Work): Promise<void> {
    const failure = await this.tryAll(delivery, work);
    if (this.isClosed) return;
    if (failure === undefined) return delivery.acknowledge();
    if (this.aborting.signal.aborted) return delivery.giveBack();
    const { settle, ...event } = await this.recoverer.passOn(failure);
    this.report({ ...event, error: failure.error });
    if (this.isClosed) return;
    if (settle === "reject") delivery.reject();
    else delivery.acknowledge();
  }

  /** Makes the first try and the immediate ones; returns undefined when one succeeded. */
  private async tryAll(delivery: OpenDelivery, work: Work): Promise<Failure | undefined> {
    let message: TriedMessage;
    try {
      message = this.recoverer.restore(delivery);
    } catch (error) {
      return unreadable(delivery, error);
    }
    for (let tries = 1; ; tries++) {
      try {
        await this.handle({ ...message, previousTries: message.previousTries + tries - 1 }, work);
        return undefined;
      } catch (thrown) {
        const failure = this.recoverer.judge(message, thrown, tries);
        const isTried = tries > this.options.policy.immediateTries || this.aborting.signal.aborted;
        if (failure.isFinal || isTried || !(await this.hasEnded(work))) return failure;
      }
    }
  }

  /** Whether no handler works on the message any more, so that another one may start. */
  private async hasEnded(work: Work): Promise<boolean> {
    // A promise raced against `halted` stays in memory for as long as the consumer runs.
    if (work.overtime === undefined) return true;
    const late = new Error("it goes on");
    const ended = Promise.race([work.overtime, this.halted]);
    return withinTime(ended, ENDING_MS, () => late).then(
      () => work.overtime === undefined,
      () => false,
    );
  }

  /** Each try gets its own copy of the message, so that changes by a handler don't get into the message. */
  private async handle(original: TriedMessage, work: Work): Promise<void> {
    const message = ownCopy(original);
    const { handlerTimeoutMs } = this.options;
    const own = new AbortController();
    // A listener on a signal that lives as long as the consumer stays for just as long.
    const forgetAbort = abortAudience(this.aborting.signal).add(() => own.abort(this.aborting.signal.reason));
    if (this.aborting.signal.aborted) own.abort(this.aborting.signal.reason);
    const { signal } = own;
    const handled = (async () => void (await this.handler({ ...message, signal })))().finally(forgetAbort);
    if (handlerTimeoutMs === undefined) return handled;
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        const error = new HandlerTimeoutError(handlerTimeoutMs);
        own.abort(error);
        reject(error);
      }, handlerTimeoutMs);
    });
    try {
      await Promise.race([handled, late]);
    } catch (error) {
      if (isLate) {
        const ended = (): void => void (work.overtime = undefined);
        work.overtime = handled.then(ended, ended);
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A mistake in a listener must not duplicate the message. */
  private report(event: RetryEvent): void {
    const { onFailure } = this.options;
    if (onFailure === undefined && event.kind === "given-back") this.warnOnce(event.error);
    tell("onFailure", onFailure, event);
  }

  /** A message that is given back comes again and again; without a listener nobody would hear why. */
  private warnOnce(error: unknown): void {
    const kind = error instanceof Error ? error.constructor.name : typeof error;
    if (this.warnings.has(kind)) return;
    this.warnings.add(kind);
    process.emitWarning(`a message of ${this.queue} could not be passed on and is tried again: ${errorText(error)}`);
  }
}
