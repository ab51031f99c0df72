import { MeasuredParts, ProcessMetrics } from "../service/processMetrics";

/** The metrics of a running gateway. How many messages wait, and where, the broker's own metrics of the network's queues tell. */
export class GatewayMetrics extends ProcessMetrics {
  readonly taken = this.counter("taken", "Messages taken in, which the network has confirmed");
  readonly rounds = this.counter("further_rounds", "Messages that came back before their time, and wait on");

  constructor(parts: MeasuredParts) {
    super("gateway", parts);
  }
}
