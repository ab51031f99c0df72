import type { BrokerInstallation, BrokerNode } from "./broker";
import { join } from "node:path";

/** A command, as it is started inside an installation. */
export function commandInside({ root }: BrokerInstallation, command: string): [string, string[]] {
  return root === "" ? [command, []] : ["chroot", [root, command]];
}

/** The variables that tell RabbitMQ's scripts which node they are or speak to. */
export function nodeEnvironment({
  name,
  folder,
  ports,
}: Pick<BrokerNode, "name" | "folder" | "ports">): NodeJS.ProcessEnv {
  return {
    HOME: folder,
    RABBITMQ_NODENAME: `${name}@localhost`,
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_MNESIA_BASE: join(folder, "data"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_PID_FILE: join(folder, "pid"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "enabled_plugins"),
    RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
    // Its own port mapper, which can be stopped with the node and does not affect other nodes of the machine.
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
  };
}
