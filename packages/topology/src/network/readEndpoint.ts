import { byHand } from "../optionReading";
import type { EndpointBindingOptions } from "../options.generated";
import { readOptions } from "../schema/options";
import { endpointBindingSchema } from "./endpointSchema";

/**
 * Reads what the binding of an endpoint is made from.
 * @param unchecked properties whose values are known later
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function readEndpointBinding(given: unknown, unchecked: readonly string[] = []): EndpointBindingOptions {
  return readOptions(endpointBindingSchema(), given, "binding", { ...byHand, unchecked });
}
