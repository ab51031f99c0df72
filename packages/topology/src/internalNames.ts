/** Longest name of a quorum queue's process, in bytes of UTF-8: that of an Erlang atom. */
export const longestInternalName = 255;

/**
 * Returns the name of a quorum queue's process within a broker. Two queues whose processes have one name can't both exist, although they are in
 * different vhosts. Source: name_concat in RabbitMQ's rabbit_queue_type_util.erl.
 */
export function internalQueueName(vhost: string, queue: string): string {
  return `${vhost === "/" ? "%2F" : vhost}_${queue}`;
}
