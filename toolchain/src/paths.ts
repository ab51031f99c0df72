import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The checkout. */
export const root = resolve(__dirname, "..", "..");

/** Files that belong to this checkout and are never committed: state, logs, the local broker's data. */
export const localFolder = join(root, ".local");

/** Files that are expensive to build, shared by all checkouts of a user. */
export const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "rabbitmq-delay");
