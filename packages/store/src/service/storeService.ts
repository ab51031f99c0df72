import pino, { Logger } from "pino";
import { planDelayedStore } from "@rabbitmq-delay/topology";
import { BrokerConnection, ConnectionEvents } from "../broker/brokerConnection";
import { declarePlan } from "../broker/declarePlan";
import { hasDeliveryLimit, liftDeliveryLimits } from "../broker/deliveryLimit";
import { Control } from "../control/control";
import type { BrokerPlace, DelayedMessageStore } from "../delayedMessageStore";
import { BatchPublisher } from "../dispatch/batchPublisher";
import { Dispatcher } from "../dispatch/dispatcher";
import { StoreMismatchError } from "../errors";
import { Intake } from "../intake/intake";
import { openStore } from "../openStore";
import type { Breaker, BreakerEvents, BreakerName } from "../resilience/breaker";
import { Pace, pause } from "../resilience/pace";
import { SteadyClock } from "../resilience/steadyClock";
import { readCertificate } from "./certificate";
import { Health, serveHttp } from "./httpServer";
import { StoreMetrics } from "./metrics";
import { ServiceSettings } from "./serviceOptions";

/** A breaker has triggered, and the service was told to end then. */
export class CriticalError extends Error {
  override readonly name = "CriticalError";

  constructor(breaker: BreakerName, cause: unknown) {
    super(`nothing but failures of ${breaker}: ${(cause as Error | undefined)?.message}`, { cause });
  }
}

/** Rows in one statement of the intake. */
const INTAKE_BATCH = 500;
/** How often a running store checks whether the messages have moved to another vhost. */
const WATCH_MS = 5000;
/** The most ids of messages in one line of the log. */
const IDS_IN_A_LINE = 20;

/**
 * Runs a store until the signal: takes messages in, dispatches those that are due, answers requests, serves health and metrics. Resolves
 * when nothing is in hand any more.
 * @param options checked ones
 * @throws StoreMismatchError for a mismatch that will not pass; CriticalError if the options ask for it
 */
export async function runStoreService(options: ServiceSettings, signal: AbortSignal, logger?: Logger): Promise<void> {
  const log = logger ?? pino({ level: options.logLevel, name: "rabbitmq-delay-store" });
  const store = openStore(options.store, options);
  try {
    await new StoreService(options, store, log).run(signal);
  } finally {
    await store.close();
    log.info("ended");
  }
}

class StoreService {
  private readonly clock = new SteadyClock();
  private readonly ca: Buffer | undefined;
  private readonly ending = new AbortController();
  private readonly connections: Record<"intake" | "dispatch", BrokerConnection>;
  private readonly publisher: BatchPublisher;
  private readonly dispatcher: Dispatcher;
  private readonly intake: Intake;
  private readonly control: Control;
  private readonly metrics: StoreMetrics;
  private readonly breakers: Breaker[];
  private isConsuming = false;
  private isOpen = false;
  private isNoted = false;
  /** The recorded name of the cluster, as last read. */
  private toldCluster: string | undefined;
  /** Why it has ended without being told to. */
  private reason: CriticalError | StoreMismatchError | undefined;

  constructor(
    private readonly options: ServiceSettings,
    private readonly store: DelayedMessageStore,
    private readonly log: Logger,
  ) {
    const { descriptor, confirmTimeoutMs, ca, amqp, management = "" } = options;
    const isEncrypted = amqp.startsWith("amqps:") || management.startsWith("https:");
    this.ca = ca === undefined || !isEncrypted ? undefined : readCertificate(ca);
    // Separate connections, because the broker stops reading from one that publishes when it is short of memory or disk.
    this.connections = { intake: this.connect("intake"), dispatch: this.connect("dispatch") };
    this.publisher = new BatchPublisher(this.connections.dispatch, confirmTimeoutMs);
    const shared = { store, publisher: this.publisher, clock: this.clock };
    const parking = { source: descriptor.name, exchange: descriptor.errorQueue };
    this.dispatcher = new Dispatcher({ ...shared, parking, settings: options, events: this.dispatchEvents() });
    this.intake = new Intake({
      ...shared,
      connection: this.connections.intake,
      descriptor,
      limits: options,
      counting: options,
      settings: { ...options, prefetch: options.intakePrefetch, batchSize: INTAKE_BATCH },
      events: this.intakeEvents(),
    });
    this.control = new Control({
      store,
      clock: this.clock,
      connection: this.connections.intake,
      replyConnection: this.connections.dispatch,
      queue: descriptor.controlQueue,
      errorQueue: descriptor.errorQueue,
      maximumDelayMs: options.maximumDelayMs,
      onRescheduled: (at) => this.dispatcher.wake(at),
      settings: options,
      events: { ...this.breakerEvents(), onFault: (error) => this.reportFault("control", error) },
    });
    const { intake, dispatcher, control } = this;
    this.breakers = [...Object.values(intake.breakers), ...Object.values(dispatcher.breakers), control.breaker];
    this.metrics = new StoreMetrics({
      store,
      clock: this.clock,
      breakers: this.breakers,
      isConnected: () => this.isConnected,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { ending, options, log } = this;
    const stop = (): void => ending.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const server =
      options.http === "off" ? undefined : await serveHttp(options.http, () => this.health(), this.metrics.registry);
    try {
      const { fetch, dispatch } = this.dispatcher.breakers;
      await this.tryPersistently("database", fetch, () => this.openStore());
      if (options.declare) await this.tryPersistently("broker", dispatch, () => this.declare());
      log.info(
        { store: options.descriptor.name, http: options.http, intake: options.descriptor.intakeQueue },
        "running",
      );
      this.isOpen = true;
      await this.publisher.prepare();
      const parts = [this.intake, this.control, this.dispatcher];
      void this.watchNote();
      await Promise.all(parts.map((part) => part.run(ending.signal)));
    } finally {
      // If one part fails because of a fault of its own, the others end, too.
      stop();
      signal.removeEventListener("abort", stop);
      for (const connection of Object.values(this.connections)) await connection.close();
      await server?.close();
    }
    if (this.reason !== undefined) throw this.reason;
  }

  /** Tries again and again while the other side is away; a mismatch won't pass later. */
  private async tryPersistently(what: string, breaker: Breaker, work: () => Promise<void>): Promise<void> {
    const pace = new Pace();
    while (!this.ending.signal.aborted) {
      try {
        return await breaker.execute(work);
      } catch (error) {
        if (error instanceof StoreMismatchError) throw error;
        this.reportFault(what, error);
        await pace.pauseAfterFailure(this.ending.signal);
      }
    }
  }

  private async openStore(): Promise<void> {
    const { tablePrefix, setUp } = this.options;
    if (setUp) await this.store.setUpInfrastructure(tablePrefix, this.ending.signal);
    await this.store.initialize(tablePrefix, this.ending.signal);
    await this.store.checkIntake?.();
    const noted = this.options.moved ? undefined : await this.store.notedBroker?.();
    this.refuseOtherVhost(noted);
    this.isNoted = noted !== undefined;
  }

  /**
   * Records a broker only once it has accepted the connection. Otherwise a mistyped vhost would be recorded as the one of the messages, and
   * the right one refused.
   */
  private async note({ vhost, clusterName: cluster }: BrokerConnection): Promise<void> {
    if (this.isNoted) return;
    const place = { vhost, ...(cluster === undefined ? {} : { cluster }) };
    const noted = await this.store.noteBroker?.(place, this.options.moved);
    this.endWhereRefused(noted);
    this.isNoted = true;
  }

  /** Refuses another vhost: messages that were stored for one vhost would be delivered in either, by chance. */
  private refuseOtherVhost(noted: BrokerPlace | undefined): void {
    const { vhost } = this.connections.intake;
    if (noted === undefined || noted.vhost === vhost) return;
    throw new StoreMismatchError(
      "amqp",
      `it names vhost ${vhost}, and the messages in the table are for vhost ${noted.vhost}; give this store another table or ` +
        "table prefix, or start it once with --moved if they are for this one from now on",
    );
  }

  /** Ends when another store has moved the messages to another vhost, and warns of one that has moved them to another broker. */
  private async watchNote(): Promise<void> {
    const { signal } = this.ending;
    for (;;) {
      await pause(WATCH_MS, signal);
      if (signal.aborted) return;
      // A store that was told of a move relies on the record only after writing it.
      if (!this.isNoted) continue;
      try {
        const noted = await this.store.notedBroker?.();
        this.endWhereRefused(noted);
        this.warnOfOtherCluster(noted);
      } catch {
        // Fetching reports that the database is away.
      }
    }
  }

  private endWhereRefused(noted: BrokerPlace | undefined): void {
    try {
      this.refuseOtherVhost(noted);
    } catch (error) {
      this.reason ??= error as StoreMismatchError;
      this.ending.abort();
      throw error;
    }
  }

  /** Warns of another cluster's name; it is only a warning, because the name may have been changed. */
  private async tellOtherCluster(): Promise<void> {
    const { vhost, clusterName: cluster } = this.connections.dispatch;
    if (cluster === undefined) return;
    this.warnOfOtherCluster(await this.store.noteBroker?.({ vhost, cluster }, false));
  }

  private warnOfOtherCluster(noted: BrokerPlace | undefined): void {
    const { clusterName: cluster } = this.connections.dispatch;
    const { toldCluster } = this;
    this.toldCluster = noted?.cluster;
    if (cluster === undefined || noted?.cluster === undefined) return;
    if (noted.cluster === cluster || noted.cluster === toldCluster) return;
    this.log.warn(
      { cluster, noted: noted.cluster },
      "the messages in the table are for a broker of another name; if another store works there, each delivers messages of " +
        "the other; if this broker was renamed or has moved, start the store once with --moved",
    );
  }

  private async declare(): Promise<void> {
    const channel = await this.connections.intake.channel();
    let refusal: (Error & { code?: number }) | undefined;
    channel.on("error", (error: Error) => (refusal = error));
    const plan = planDelayedStore(this.options.descriptor);
    try {
      await declarePlan(channel, plan);
      await channel.close();
    } catch (error) {
      // Other arguments, or no permission: neither passes without a change.
      if (refusal !== undefined) throw new StoreMismatchError("declare", refusal.message);
      throw error;
    }
    if (hasDeliveryLimit(this.connections.intake.brokerVersion) === false) return;
    const { management, amqp } = this.options;
    if (management !== undefined) {
      const kept = await liftDeliveryLimits(plan, management, amqp, this.ca);
      for (const { queue, by } of kept)
        this.log.warn(
          { queue, policy: by },
          "this queue keeps a delivery limit, because another policy applies to it; give that policy delivery-limit -1, or a lower priority",
        );
      return;
    }
    this.log.warn(
      { queues: plan.queues.map(({ name }) => name) },
      "these queues keep RabbitMQ 4's delivery limit: a message that was in hand in 21 crashes of a store goes to the error queue, " +
        "or is dropped out of it; give --management, or declare them by DelayedMessageStore",
    );
  }

  private get isConnected(): boolean {
    return Object.values(this.connections).every(({ isConnected }) => isConnected);
  }

  private health(): Health {
    const triggered = this.breakers.filter(({ isTriggered }) => isTriggered).map(({ name }) => name);
    const isReady = this.isConsuming && this.connections.intake.isConnected && !this.ending.signal.aborted;
    return { status: triggered.length === 0 ? "green" : "red", triggered, isReady };
  }

  private connect(purpose: "intake" | "dispatch"): BrokerConnection {
    const { log } = this;
    const events: ConnectionEvents = {
      admit: (connection) => this.note(connection),
      onConnected: () => {
        log.info({ purpose }, "broker connected");
        if (purpose !== "dispatch" || !this.isOpen) return;
        this.tellOtherCluster().catch((error: unknown) => this.reportFault("database", error));
      },
      onDisconnected: (error) => log.warn({ purpose, reason: error?.message }, "broker disconnected"),
      onBlocked: (reason) =>
        reason === undefined
          ? log.info({ purpose }, "broker takes messages again")
          : log.warn({ purpose, reason }, "broker takes no messages"),
    };
    return new BrokerConnection(this.options.amqp, `rabbitmq-delay-store ${purpose}`, events, this.ca);
  }

  private dispatchEvents(): ConstructorParameters<typeof Dispatcher>[0]["events"] {
    const { log } = this;
    return {
      ...this.breakerEvents(),
      onDelivered: (messages, latenessMs) => {
        this.metrics.delivered.inc(messages.length);
        for (const lateMs of latenessMs) this.metrics.lateness.observe(lateMs / 1000);
        log.debug({ count: messages.length }, "delivered");
      },
      onRetry: ({ messageId, failureCount }, error, retryAt) => {
        this.metrics.retried.inc();
        log.warn({ messageId, failures: failureCount + 1, retryAt, reason: error.message }, "delivery failed");
      },
      onParked: ({ messageId }, error) => {
        this.metrics.parked.inc();
        log.error({ messageId, reason: error.message }, "put into the error queue");
      },
      onStuck: ({ messageId }, error) => {
        this.metrics.stuck.inc();
        log.error({ messageId, reason: (error as Error).message }, "could not be put into the error queue");
      },
      onFault: (error) => this.reportFault("dispatch", error),
    };
  }

  private intakeEvents(): ConstructorParameters<typeof Intake>[0]["events"] {
    return {
      ...this.breakerEvents(),
      onConsuming: () => (this.isConsuming = true),
      onStored: (messages) => {
        this.isConsuming = true;
        this.metrics.stored.inc(messages.length);
        this.dispatcher.wake(new Date(Math.min(...messages.map(({ dueAt }) => dueAt.getTime()))));
      },
      onRecognized: (deliveries) => {
        this.metrics.recognized.inc(deliveries.length);
        const messageIds = deliveries.slice(0, IDS_IN_A_LINE).map(({ properties }) => properties.messageId as string);
        this.log.warn(
          { count: deliveries.length, messageIds },
          "delivered again by the broker, and stored before: left out",
        );
      },
      onWaiting: (waitMs) =>
        this.log.warn({ what: "intake", waitMs }, "waiting until it is known what another process has stored"),
      onRefused: ({ properties }, error) => {
        this.metrics.refused.inc();
        this.log.error({ messageId: properties.messageId, reason: error.message }, "refused, put into the error queue");
      },
      onStuck: ({ properties }, error) => {
        this.metrics.stuck.inc();
        const reason = (error as Error).message;
        this.log.error(
          { messageId: properties.messageId, reason },
          "refused, and could not be put into the error queue",
        );
      },
      onFault: (error) => {
        this.isConsuming = false;
        this.reportFault("intake", error);
      },
    };
  }

  private breakerEvents(): BreakerEvents {
    const { log } = this;
    return {
      onTriggered: (breaker, error) => {
        log.fatal({ breaker, reason: (error as Error | undefined)?.message }, "critical: nothing but failures");
        if (!this.options.exitOnCritical) return;
        this.reason ??= new CriticalError(breaker, error);
        this.ending.abort();
      },
      onRecovered: (breaker) => log.info({ breaker }, "recovered"),
    };
  }

  private reportFault(what: string, error: unknown): void {
    this.metrics?.faults.inc();
    this.log.warn({ what, reason: (error as Error).message }, "failed; trying again");
  }
}
