import type { PlannedFault } from "../plan/types";
import type { Round, RunningPart } from "../workload/part";
import { onChannel } from "./amqp";
import type { Effect } from "./effect";

/** An endpoint's bindings are gone for a while. */
export async function unbind(
  round: Round,
  part: RunningPart,
  { index = 0, forMs = 500 }: PlannedFault,
): Promise<Effect> {
  const endpoint = part.endpoints[index % part.endpoints.length];
  if (endpoint === undefined) return {};
  const each = (verb: "bind" | "unbind"): Promise<void> =>
    onChannel(round, part, async (channel) => {
      for (const { source, destination, destinationType, routingKey } of endpoint.bindings) {
        if (destinationType === "queue") await channel[`${verb}Queue`](destination, source, routingKey);
        else await channel[`${verb}Exchange`](destination, source, routingKey);
      }
    });
  await each("unbind");
  await new Promise((resolve) => setTimeout(resolve, forMs));
  await untilDone(() => each("bind"));
  return { subject: endpoint.name };
}

/** The broker may be away when it shall be as before. */
export async function untilDone(body: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await body();
      return;
    } catch (error) {
      if (attempt === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
