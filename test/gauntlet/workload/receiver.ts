import { Child } from "../child";
import type { Round } from "./part";

/** A child process that receives what gets to queues. */
export function receiver(
  round: Round,
  part: string,
  vhost: string,
  queues: { queue: string; place: string }[],
  more: object = {},
): Child {
  return childOf(round, part, vhost, "receiver.js", { queues, ...more });
}

/** A child process of a part; it learns the broker's address by its environment. */
export function childOf(round: Round, part: string, vhost: string, program: string, task: object): Child {
  return new Child({
    program,
    task: { part, ...task },
    environment: { GAUNTLET_URL: round.broker.amqpUrl(vhost) },
    folder: round.folder,
    history: round.history,
    onOutput: (text) => round.secrets.read(part, "a consumer's output", text),
  });
}
