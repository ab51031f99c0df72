import { DelayTopologyError } from "@rabbitmq-delay/topology";

/** The property that a call refuses. @throws Error when it refuses none */
export function refusedProperty(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof DelayTopologyError) return error.property;
    throw error;
  }
  throw new Error("a vector is taken that should be refused");
}
