import type { Broker } from "../broker";
import type { Child } from "../child";
import type { LastingChannel } from "../channels";
import type { History } from "../history";
import type { PlannedFault, PlannedMessage, StoreRequest } from "../plan/types";
import type { Secrets } from "../secrets";
import type { PartDatabase } from "./database";
import type { StoreDispatcher } from "./storeDispatcher";

/** What all parts of a round share. */
export interface Round {
  broker: Broker;
  history: History;
  /** For files of this round. */
  folder: string;
  secrets: Secrets;
  /** What goes wrong in it, for those who have to be prepared. */
  faults: readonly PlannedFault[];
}

/** A part at work. */
export interface RunningPart {
  name: string;
  vhost: string;
  /** Queues whose messages the plan's purge and policies are about. */
  queues: string[];
  /** Endpoints' names and bindings, for those that are unbound. */
  endpoints: {
    name: string;
    bindings: { source: string; destination: string; destinationType: string; routingKey: string }[];
  }[];
  consumers: Child[];
  dispatchers: StoreDispatcher[];
  channels: LastingChannel[];
  database?: PartDatabase;
  publish(message: PlannedMessage): Promise<void>;
  request?(request: StoreRequest): Promise<void>;
  /** Things that happen once, at their time. */
  others?: { atMs: number; run: () => Promise<void> }[];
  /** Ends what the part alone has, e.g. its database. */
  stop?(): Promise<void>;
}
