import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "./engine";
import { LocalBroker, OWN_BROKER_VARIABLE } from "./localBroker";
import { localFolder } from "./paths";

/** The file that a shell sources to use plain `pulumi` and `rabbitmq-delay` on this checkout. */
export const environmentFile = join(localFolder, "env");

/**
 * The environment that plain `pulumi` needs. Writing the whole state after each resource takes time in proportion to the square of their
 * number. Without it, the next update repairs an interrupted one, because declaring something on the broker twice does no harm.
 */
export function pulumiEnvironment(engine: Engine, given: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const state = join(localFolder, "state");
  mkdirSync(state, { recursive: true });
  return {
    PULUMI_BACKEND_URL: given.PULUMI_BACKEND_URL ?? `file://${state}`,
    PULUMI_HOME: engine.home,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    // Nodes from 22.1 on keep their compiled modules there; others don't know the variable.
    NODE_COMPILE_CACHE: given.NODE_COMPILE_CACHE ?? join(localFolder, "compiled"),
    PULUMI_EXPERIMENTAL: "true",
    PULUMI_SKIP_CHECKPOINTS: given.PULUMI_SKIP_CHECKPOINTS ?? "true",
    ...(given.PULUMI_CONFIG_PASSPHRASE_FILE === undefined
      ? { PULUMI_CONFIG_PASSPHRASE: given.PULUMI_CONFIG_PASSPHRASE ?? "dev" }
      : {}),
  };
}

/** Where the broker is. */
export function brokerEnvironment(broker: LocalBroker): Record<string, string> {
  const { username, password } = new URL(broker.amqpUrl);
  return {
    RABBITMQ_URL: broker.amqpUrl,
    RABBITMQ_MANAGEMENT_URL: broker.managementUrl,
    ...(broker.isForeign ? {} : { [OWN_BROKER_VARIABLE]: broker.amqpUrl }),
    ...(username === "" ? {} : { RABBITMQ_USERNAME: decodeURIComponent(username) }),
    ...(password === "" ? {} : { RABBITMQ_PASSWORD: decodeURIComponent(password) }),
  };
}

/** Writes {@link environmentFile}, readable only by its owner, because it contains the broker's password. */
export function writeEnvironmentFile(variables: Record<string, string>, binFolder: string): void {
  const quote = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
  const path = `case ":$PATH:" in *:${binFolder}:*) ;; *) export PATH=${quote(binFolder)}:"$PATH" ;; esac`;
  mkdirSync(localFolder, { recursive: true });
  writeFileSync(environmentFile, `${[...lines, path].join("\n")}\n`, { mode: 0o600 });
}
