import * as pulumi from "@pulumi/pulumi";
import type { FoundParts, OwnResource } from "@rabbitmq-delay/broker";
import { servesOtherLanguages } from "./otherLanguages";

/** What the components of one run of a program share. */
export interface Run {
  /** By the provider, as the broker is before this program makes anything. */
  looks: WeakMap<object, Map<string, Promise<FoundParts | undefined>>>;
  /** Where no provider is given: the default one, which is the same for all. */
  defaultProvider: object;
  /** The stack's state, as it is before this program makes anything; undefined if the engine does not say. */
  state?: Promise<OwnResource[] | undefined>;
  /** Why the engine does not say. */
  whyUnread?: string;
  asking: Set<Promise<void>>;
  /** Why a value that is known later was refused; components that have not made anything by then make nothing. */
  refusal?: Error;
  /** Queues and exchanges of all components of this program, whether they were looked at or not. */
  planned: Set<string>;
}

// By the connection to the engine: a process may run several programs, or one several times, and each refuses and finds for itself. A
// process that serves another language makes each component by a connection of its own, all of one program.
const runs = new WeakMap<object, Run>();
const served = {};

/** The run of the program that is made at this moment. */
export function thisRun(): Run {
  const connection = servesOtherLanguages() ? served : pulumi.runtime.getMonitor();
  const run = connection === undefined ? undefined : runs.get(connection);
  if (run !== undefined) return run;
  const started: Run = { looks: new WeakMap(), defaultProvider: {}, asking: new Set(), planned: new Set() };
  if (connection !== undefined) runs.set(connection, started);
  return started;
}
