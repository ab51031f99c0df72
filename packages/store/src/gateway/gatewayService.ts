import pino, { Logger } from "pino";
import { planDelayGateway } from "@rabbitmq-delay/topology";
import { BatchPublisher } from "../dispatch/batchPublisher";
import { Intake, IntakeEvents } from "../intake/intake";
import type { Breaker } from "../resilience/breaker";
import { pause } from "../resilience/pace";
import { BrokerProcess } from "../service/brokerProcess";
import { GatewayMetrics } from "./gatewayMetrics";
import type { GatewaySettings } from "./gatewayOptions";
import { NetworkEntry } from "./networkEntry";
import { ReplacedQueues } from "./replacedQueues";
import { ReturnEvents, Returns } from "./returns";

/**
 * Runs a gateway until the signal: takes messages in, lets them wait in its delay network, delivers what comes back, serves health and
 * metrics. Resolves when nothing is in hand any more.
 * @param options checked ones
 * @throws StoreMismatchError for what the broker refuses to declare; CriticalError if the options ask for it
 * @example
 * ```ts
 * import { gatewaySettings, runGateway } from "@rabbitmq-delay/store/gateway";
 *
 * const ending = new AbortController();
 * process.once("SIGTERM", () => ending.abort());
 * const descriptor = JSON.parse(process.env.DELAY_GATEWAY ?? "");
 * await runGateway(gatewaySettings({ amqp: "amqp://localhost", descriptor }), ending.signal);
 * ```
 */
export async function runGateway(options: GatewaySettings, signal: AbortSignal, logger?: Logger): Promise<void> {
  const log = logger ?? pino({ level: options.logLevel, name: "rabbitmq-delay-gateway" });
  try {
    await new GatewayService(options, log).run(signal);
  } finally {
    log.info("ended");
  }
}

/** How often it is made sure that the network leads back. */
const WATCH_MS = 10_000;

class GatewayService extends BrokerProcess<GatewayMetrics> {
  protected override readonly metrics: GatewayMetrics;
  protected override readonly breakers: Breaker[];
  /** Of its own: a queue of the network that does not answer may hold up all that is published over the same connection. */
  private readonly network = this.connect("network");
  private readonly entry: NetworkEntry;
  private readonly replaced: ReplacedQueues;
  private readonly intake: Intake;
  private readonly returns: Returns;
  /** Whether the return queue is consumed. */
  private isReturning = false;
  /** Whether the network leads back to it. */
  private isLedBack = true;

  constructor(
    private readonly options: GatewaySettings,
    log: Logger,
  ) {
    super("gateway", options, log);
    const { descriptor: gateway } = options;
    const { publisher, clock } = this;
    const connection = this.connections.intake;
    const { confirmTimeoutMs } = options;
    const intoNetwork = new BatchPublisher(this.network, confirmTimeoutMs, { isEachSentOnce: true });
    const { signal } = this.ending;
    this.entry = new NetworkEntry({ publisher: intoNetwork, clock, gateway, confirmTimeoutMs, signal });
    this.replaced = new ReplacedQueues({
      entry: this.entry,
      gateway,
      publisher: intoNetwork,
      connect: () => this.connectOnce("network"),
      confirmTimeoutMs,
      onGivenUp: (count) =>
        log.warn(
          { count },
          "queues of the network were declared anew while these waited for their answer; they are sent once more",
        ),
    });
    this.intake = new Intake({
      connection,
      store: this.entry,
      publisher,
      clock,
      descriptor: gateway,
      limits: options,
      reading: options,
      settings: {
        ...options,
        prefetch: options.intakePrefetch,
        timeToTriggerStoreBreakerMs: options.timeToTriggerNetworkBreakerMs,
      },
      storeBreaker: "network",
      events: this.intakeEvents(),
    });
    this.returns = new Returns({
      connection,
      publisher,
      entry: this.entry,
      clock,
      gateway,
      settings: { ...options, prefetch: options.intakePrefetch },
      events: this.returnEvents(),
    });
    this.breakers = [...Object.values(this.intake.breakers), ...Object.values(this.returns.breakers)];
    this.metrics = new GatewayMetrics({ clock, breakers: this.breakers, isConnected: () => this.isConnected });
  }

  protected override async work(): Promise<void> {
    const { options, log, ending } = this;
    const { descriptor: gateway } = options;
    const { store: network } = this.intake.breakers;
    await this.tryPersistently("broker", network, () => this.reachBroker());
    if (options.declare) await this.tryPersistently("broker", network, () => this.declare(planDelayGateway(gateway)));
    await this.publisher.prepare();
    log.info({ gateway: gateway.name, network: gateway.network.prefix, http: options.http }, "running");
    await Promise.all([
      this.takeIn(),
      this.returns.run(ending.signal),
      this.watchReturn(),
      this.replaced.watch(ending.signal),
    ]);
  }

  /** Without a way back, messages would be lost when their time is over. */
  private async takeIn(): Promise<void> {
    await this.tryPersistently("network", this.intake.breakers.store, () => this.entry.checkReturn());
    await this.intake.run(this.ending.signal);
  }

  /** Says that it is not ready while the network does not lead back to it, also when no message comes. */
  private async watchReturn(): Promise<void> {
    const { signal } = this.ending;
    for (;;) {
      await pause(WATCH_MS, signal);
      if (signal.aborted) return;
      // A broker that takes nothing says nothing of the way back; and no success here may hide that the network fails otherwise.
      if (this.network.blockedReason !== undefined) continue;
      try {
        await this.entry.checkReturn();
        this.isLedBack = true;
      } catch (error) {
        this.isLedBack = false;
        this.reportFault("network", error);
      }
    }
  }

  protected override get isReady(): boolean {
    const isBlocked = [this.network, this.connections.dispatch].some((one) => one.blockedReason !== undefined);
    const isHeldUp = this.intake.isHeldUp || this.returns.isHeldUp;
    return super.isReady && this.isReturning && this.isLedBack && !isBlocked && !isHeldUp;
  }

  private intakeEvents(): IntakeEvents {
    return {
      ...this.breakerEvents(),
      ...this.refusalEvents(),
      ...this.consumerEvents(),
      onStored: (messages) => void this.metrics.taken.inc(messages.length),
    };
  }

  private returnEvents(): ReturnEvents {
    const { lines } = this;
    return {
      ...this.breakerEvents(),
      ...this.refusalEvents("parked"),
      onDelivered: (messages, latenessMs) => this.reportDelivered(messages, latenessMs),
      onRetry: ({ messageId }, failures, error, retryAt) => {
        this.metrics.retried.inc();
        lines.write("warn", { messageId, failures, retryAt, reason: error.message }, "delivery failed");
      },
      onWaitingOn: (count) => this.metrics.rounds.inc(count),
      onDispatchFault: (error) => this.reportFault("dispatch", error),
      onNetworkFault: (error) => this.reportFault("network", error),
      onConsuming: () => (this.isReturning = true),
      onFault: (error) => {
        this.isReturning = false;
        this.reportFault("return", error);
      },
      onBodyFault: (error) => this.reportBodyFault(error),
    };
  }
}
