/** All that the gauntlet needs of this repository's own tools: what starts and stops brokers and databases. */
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import "../support/brokerClock";

export { BrokerInstallation } from "../../toolchain/dist/broker";
export { rabbitmqctl } from "../../toolchain/dist/brokerControl";
export { localInstallation, newestInstallation } from "../../toolchain/dist/brokerInstallations";
export { killNode, startNode, stopNode } from "../../toolchain/dist/brokerNode";
export { BrokerNode } from "../../toolchain/dist/broker";
export { findFakeTime } from "../../toolchain/dist/fakeTime";
export { freePort } from "../../toolchain/dist/ports";
export {
  PostgresServer,
  launch as launchPostgres,
  postgresInstallation,
  removePostgres,
  startPostgres,
  stopPostgres,
} from "../../toolchain/dist/postgresServer";

/** The command. */
export const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");
/** The checkout, where the command's packages are. */
export { root };
