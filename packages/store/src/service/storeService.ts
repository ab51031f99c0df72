import pino, { Logger } from "pino";
import { planDelayedStore } from "@rabbitmq-delay/topology";
import type { BrokerConnection } from "../broker/brokerConnection";
import { Control } from "../control/control";
import type { BrokerPlace, DelayedMessageStore } from "../delayedMessageStore";
import { Dispatcher } from "../dispatch/dispatcher";
import { StoreMismatchError } from "../errors";
import { Intake } from "../intake/intake";
import { openStore } from "../openStore";
import type { Breaker } from "../resilience/breaker";
import { pause } from "../resilience/pace";
import { BrokerProcess, Purpose } from "./brokerProcess";
import { StoreMetrics } from "./metrics";
import { ServiceSettings } from "./serviceOptions";

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
 * @example
 * ```ts
 * import { runStoreService, serviceSettings } from "@rabbitmq-delay/store/service";
 *
 * const ending = new AbortController();
 * process.once("SIGTERM", () => ending.abort());
 * const settings = serviceSettings({ store: "sqlite:/var/lib/shop/delayed.db", amqp: "amqp://localhost" });
 * await runStoreService(settings, ending.signal);
 * ```
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

class StoreService extends BrokerProcess<StoreMetrics> {
  protected override readonly metrics: StoreMetrics;
  protected override readonly breakers: Breaker[];
  private readonly dispatcher: Dispatcher;
  private readonly intake: Intake;
  private readonly control: Control;
  private isOpen = false;
  private isNoted = false;
  /** The recorded name of the cluster, as last read. */
  private toldCluster: string | undefined;

  constructor(
    private readonly options: ServiceSettings,
    private readonly store: DelayedMessageStore,
    log: Logger,
  ) {
    super("store", options, log);
    const { descriptor } = options;
    const shared = { store, publisher: this.publisher, clock: this.clock };
    const parking = { source: descriptor.name, exchange: descriptor.errorQueue };
    this.dispatcher = new Dispatcher({ ...shared, parking, settings: options, events: this.dispatchEvents() });
    this.intake = new Intake({
      ...shared,
      connection: this.connections.intake,
      descriptor,
      limits: options,
      reading: options,
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

  protected override async work(): Promise<void> {
    const { ending, options, log } = this;
    const { fetch, dispatch } = this.dispatcher.breakers;
    await this.tryPersistently("database", fetch, () => this.openStore());
    await this.tryPersistently("broker", dispatch, () => this.reachBroker());
    if (options.declare)
      await this.tryPersistently("broker", dispatch, () => this.declare(planDelayedStore(options.descriptor)));
    log.info({ store: options.descriptor.name, http: options.http, intake: options.descriptor.intakeQueue }, "running");
    this.isOpen = true;
    await this.publisher.prepare();
    const parts = [this.intake, this.control, this.dispatcher];
    void this.watchNote();
    await Promise.all(parts.map((part) => part.run(ending.signal)));
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

  protected override get isReady(): boolean {
    return super.isReady && !this.intake.isHeldUp;
  }

  protected override admit(connection: BrokerConnection): Promise<void> {
    return this.note(connection);
  }

  protected override connected(purpose: Purpose): void {
    if (purpose !== "dispatch" || !this.isOpen) return;
    this.tellOtherCluster().catch((error: unknown) => this.reportFault("database", error));
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

  private dispatchEvents(): ConstructorParameters<typeof Dispatcher>[0]["events"] {
    const { lines } = this;
    return {
      ...this.breakerEvents(),
      onDelivered: (messages, latenessMs) => this.reportDelivered(messages, latenessMs),
      onRetry: ({ messageId, failureCount }, error, retryAt) => {
        this.metrics.retried.inc();
        const told = { messageId, failures: failureCount + 1, retryAt, reason: error.message };
        lines.write("warn", told, "delivery failed");
      },
      onParked: ({ messageId }, error) => {
        this.metrics.parked.inc();
        lines.write("error", { messageId, reason: error.message }, "put into the error queue");
      },
      onStuck: ({ messageId }, error) => {
        this.metrics.stuck.inc();
        const { message: reason } = error as Error;
        lines.write("error", { messageId, reason }, "could not be put into the error queue");
      },
      onFault: (error) => this.reportFault("dispatch", error),
    };
  }

  private intakeEvents(): ConstructorParameters<typeof Intake>[0]["events"] {
    return {
      ...this.breakerEvents(),
      ...this.refusalEvents(),
      ...this.consumerEvents(),
      onStored: (messages) => {
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
    };
  }
}
