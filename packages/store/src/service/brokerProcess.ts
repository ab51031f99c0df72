import type { Logger } from "pino";
import { connectionFailure, vhostMismatch } from "@rabbitmq-delay/publish/parts";
import type { EntityPlan } from "@rabbitmq-delay/topology";
import { hasDeliveryLimit } from "@rabbitmq-delay/topology/stack";
import { BrokerConnection, ConnectionEvents } from "../broker/brokerConnection";
import { declarePlan } from "../broker/declarePlan";
import { liftDeliveryLimits } from "../broker/deliveryLimit";
import type { ConsumerEvents } from "../broker/consumer";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher } from "../dispatch/batchPublisher";
import { exchangeTypesOf } from "../dispatch/destinations";
import type { RefusalEvents } from "../dispatch/refusalEvents";
import { BrokerRefusedError, StoreMismatchError } from "../errors";
import type { Breaker, BreakerEvents, BreakerName } from "../resilience/breaker";
import { Pace } from "../resilience/pace";
import { SteadyClock } from "../resilience/steadyClock";
import { readCertificate } from "./certificate";
import { Health, serveHttp } from "./httpServer";
import { LineLimit } from "./lineLimit";
import type { ProcessMetrics } from "./processMetrics";
import type { ProcessSettings } from "./processSettings";

/**
 * A breaker has triggered, and the process was told to end then.
 * @example
 * ```ts
 * import { CriticalError, runStoreService, serviceSettings } from "@rabbitmq-delay/store/service";
 *
 * const settings = serviceSettings({ store: "sqlite:/var/lib/shop/delayed.db", amqp: "amqp://localhost" });
 * await runStoreService(settings, new AbortController().signal).catch((error: unknown) => {
 *   if (!(error instanceof CriticalError)) throw error;
 *   process.exitCode = 75; // the supervisor starts the process again
 * });
 * ```
 */
export class CriticalError extends Error {
  override readonly name = "CriticalError";

  constructor(breaker: BreakerName, cause: unknown) {
    super(`nothing but failures of ${breaker}: ${(cause as Error | undefined)?.message}`, { cause });
  }
}

/** How long an ordinary end may take, in milliseconds; whoever runs it on Kubernetes gives it 60 s. */
const STOP_MS = 45_000;

/** A process that takes messages in, delivers them, and serves health and metrics, until a signal: a store, or a gateway. */
export abstract class BrokerProcess<Metrics extends ProcessMetrics> {
  protected readonly clock = new SteadyClock();
  protected readonly ending = new AbortController();
  protected readonly connections: Record<"intake" | "dispatch", BrokerConnection>;
  private readonly allConnections: BrokerConnection[] = [];
  protected readonly publisher: BatchPublisher;
  protected isConsuming = false;
  /** Why it has ended without being told to. */
  protected reason: CriticalError | StoreMismatchError | undefined;
  private readonly ca: Buffer | undefined;
  /** Writes the lines that tell of one message each. */
  protected readonly lines: LineLimit;

  protected abstract readonly metrics: Metrics;
  protected abstract readonly breakers: Breaker[];

  /** @param process what runs, for its log and the names of its connections */
  constructor(
    private readonly process: "store" | "gateway",
    private readonly settings: ProcessSettings,
    protected readonly log: Logger,
  ) {
    this.lines = new LineLimit(log);
    const { confirmTimeoutMs, ca, amqp, management = "" } = settings;
    const isEncrypted = amqp.startsWith("amqps:") || management.startsWith("https:");
    this.ca = ca === undefined || !isEncrypted ? undefined : readCertificate(ca);
    // Separate connections, because the broker stops reading from one that publishes when it is short of memory or disk.
    this.connections = { intake: this.connect("intake"), dispatch: this.connect("dispatch") };
    this.publisher = new BatchPublisher(this.connections.dispatch, confirmTimeoutMs, {
      exchangeTypes: exchangeTypesOf(settings.descriptor),
    });
  }

  /** Works until the signal; resolves when nothing is in hand any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { ending, settings } = this;
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      timer ??= setTimeout(() => this.abandon(), STOP_MS);
      ending.abort();
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const server =
      settings.http === "off" ? undefined : await serveHttp(settings.http, () => this.health(), this.metrics.registry);
    try {
      await this.work();
    } finally {
      // If one part fails because of a fault of its own, the others end, too.
      stop();
      signal.removeEventListener("abort", stop);
      await Promise.all(this.allConnections.map((connection) => connection.close()));
      clearTimeout(timer);
      this.lines.flush();
      await server?.close();
    }
    if (this.reason !== undefined) throw this.reason;
  }

  /** Gives back what is in hand, though the broker may have it, before who ends this process ends it by force. */
  private abandon(): void {
    this.log.warn(
      `the broker has not answered for ${STOP_MS / 1000} s since the end was asked for; what is in hand is given back`,
    );
    for (const connection of this.allConnections) void connection.abandon("the process ends");
  }

  /** Works until `ending`. */
  protected abstract work(): Promise<void>;

  /** Called before a new connection is used; if it rejects, the connection is not used. */
  protected admit(_connection: BrokerConnection): Promise<void> {
    return Promise.resolve();
  }

  /** Called when a connection is there. */
  protected connected(_purpose: Purpose): void {
    // Nothing by itself.
  }

  /** Tries again and again while the other side is away; a mismatch won't pass later. */
  protected async tryPersistently(what: string, breaker: Breaker, work: () => Promise<void>): Promise<void> {
    const pace = new Pace();
    while (!this.ending.signal.aborted) {
      try {
        return await breaker.execute(work);
      } catch (error) {
        if (error instanceof StoreMismatchError || error instanceof BrokerRefusedError) throw error;
        this.reportFault(what, error);
        await pace.pauseAfterFailure(this.ending.signal);
      }
    }
  }

  /**
   * Opens the first connection.
   * @throws StoreMismatchError for an address with another vhost than the network's; BrokerRefusedError for a login or a vhost that the
   * broker refuses, which no later try changes
   */
  protected async reachBroker(): Promise<void> {
    const { amqp, descriptor } = this.settings;
    const mismatch = descriptor.kind === "delay-gateway" ? vhostMismatch(amqp, descriptor.network) : undefined;
    if (mismatch !== undefined) throw new StoreMismatchError("amqp", mismatch);
    let channel;
    try {
      channel = await this.connections.intake.channel();
    } catch (error) {
      if (error instanceof StoreMismatchError) throw error;
      const { reason, isRefused } = connectionFailure(amqp, error);
      if (isRefused) throw new BrokerRefusedError(`amqp: ${reason}`);
      // A channel that does not open on a connection has an error of its own.
      throw this.connections.intake.brokerVersion === undefined ? new Error(reason, { cause: error }) : error;
    }
    await channel.close();
  }

  /** Declares the broker's side, and lifts its delivery limits. @throws StoreMismatchError for what the broker refuses */
  protected async declare(plan: EntityPlan): Promise<void> {
    const channel = await this.connections.intake.channel();
    let refusal: (Error & { code?: number }) | undefined;
    channel.on("error", (error: Error) => (refusal = error));
    try {
      await declarePlan(channel, plan);
      await channel.close();
    } catch (error) {
      // Other arguments, or no permission: neither passes without a change.
      if (refusal !== undefined) throw new StoreMismatchError("declare", refusal.message);
      throw error;
    }
    if (hasDeliveryLimit(this.connections.intake.brokerVersion) === false) return;
    const { management, amqp } = this.settings;
    if (management !== undefined) {
      const kept = await liftDeliveryLimits(plan, management, amqp, this.ca);
      for (const { queue, by, isOperator } of kept)
        this.log.warn(
          { queue, policy: by },
          isOperator
            ? "this queue keeps a delivery limit, because an operator's policy sets it; take delivery-limit out of that policy, or narrow its pattern"
            : "this queue keeps a delivery limit, because another policy applies to it; give that policy delivery-limit -1, or a lower priority",
        );
      return;
    }
    this.log.warn(
      { queues: plan.queues.map(({ name }) => name) },
      `these queues keep RabbitMQ 4's delivery limit: a message that was in hand in 21 crashes of a ${this.process} goes to the error queue, ` +
        "or is dropped out of it; give --management, or declare them by a stack",
    );
  }

  /** Whether it takes messages in, and can deliver them. */
  protected get isReady(): boolean {
    return this.isConsuming && this.connections.intake.isConnected && !this.ending.signal.aborted;
  }

  protected get isConnected(): boolean {
    return this.allConnections.every(({ isConnected }) => isConnected);
  }

  protected breakerEvents(): BreakerEvents {
    const { log } = this;
    return {
      onTriggered: (breaker, error) => {
        log.fatal({ breaker, reason: (error as Error | undefined)?.message }, "critical: nothing but failures");
        if (!this.settings.exitOnCritical) return;
        this.reason ??= new CriticalError(breaker, error);
        this.ending.abort();
      },
      onRecovered: (breaker) => log.info({ breaker }, "recovered"),
    };
  }

  /** By what an intake tells, it is known whether it works: a batch that failed and then succeeded may be the last one for hours. */
  protected consumerEvents(): ConsumerEvents {
    const works = (): void => void (this.isConsuming = true);
    return {
      onConsuming: works,
      onHandled: works,
      onFault: (error) => {
        this.isConsuming = false;
        this.reportFault("intake", error);
      },
      onBodyFault: (error) => this.reportBodyFault(error),
    };
  }

  protected reportBodyFault({ message }: Error): void {
    this.log.error({ reason: message }, "bodies stay in memory beyond bodyMemoryBytes");
  }

  /** Events of messages that are put into the error queue: those that can't be taken in, or those that can't be delivered. */
  protected refusalEvents(counter: "refused" | "parked" = "refused"): RefusalEvents {
    const { log, lines } = this;
    const before = counter === "refused" ? "refused, " : "";
    // Nothing but the log has the reason of a message that the broker moves.
    const write = (isMoved: boolean | undefined, fields: object, text: string): void =>
      isMoved === true ? log.error(fields, text) : lines.write("error", fields, text);
    return {
      onRefused: ({ properties: { messageId } }, { message: reason }, isMoved) => {
        this.metrics[counter].inc();
        write(isMoved, { messageId, reason }, `${before}put into the error queue`);
      },
      onStuck: ({ properties: { messageId } }, error, isMoved) => {
        this.metrics.stuck.inc();
        const { message: reason } = error as Error;
        write(isMoved, { messageId, reason }, `${before}could not be put into the error queue`);
      },
    };
  }

  protected reportDelivered(messages: readonly NewDelayedMessage[], latenessMs: readonly number[]): void {
    this.metrics.delivered.inc(messages.length);
    for (const lateMs of latenessMs) this.metrics.lateness.observe(lateMs / 1000);
    this.log.debug({ count: messages.length }, "delivered");
  }

  protected reportFault(what: string, error: unknown): void {
    this.metrics?.faults.inc();
    this.log.warn({ what, reason: (error as Error).message }, "failed; trying again");
  }

  private health(): Health {
    const failing = this.breakers.filter(({ isUnhealthy }) => isUnhealthy);
    return {
      status: failing.length === 0 ? "green" : "red",
      triggered: failing.filter(({ isTriggered }) => isTriggered).map(({ name }) => name),
      reasons: Object.fromEntries(failing.map(({ name, reason = "" }) => [name, reason])),
      isReady: this.isReady,
    };
  }

  /** Makes a connection, which is opened on demand and closed at the end. */
  protected connect(purpose: Purpose): BrokerConnection {
    const { log } = this;
    const events: ConnectionEvents = {
      admit: (connection) => this.admit(connection),
      onConnected: () => {
        log.info({ purpose }, "broker connected");
        this.connected(purpose);
      },
      onDisconnected: (error) => log.warn({ purpose, reason: error?.message }, "broker disconnected"),
      onBlocked: (reason) =>
        reason === undefined
          ? log.info({ purpose }, "broker takes messages again")
          : log.warn({ purpose, reason }, "broker takes no messages"),
    };
    const connection = this.connectOnce(purpose, events);
    this.allConnections.push(connection);
    return connection;
  }

  /** The same, which its user closes. */
  protected connectOnce(purpose: Purpose, events?: ConnectionEvents): BrokerConnection {
    return new BrokerConnection(this.settings.amqp, `rabbitmq-delay-${this.process} ${purpose}`, events, this.ca);
  }
}

/** What a connection is for. */
export type Purpose = "intake" | "dispatch" | "network";
