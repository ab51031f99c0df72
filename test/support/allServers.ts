import { stopAllBrokers } from "./brokers";
import { stopSharedControlPlane } from "./controlPlanes";
import { stopAllDatabases } from "./databases";
import { removeAllNetworks } from "./pods/network";
import { closeRegisters } from "./servers";
import { unmountAll } from "./tinyDisk";

/** Stops and removes all that the registers name: servers, disks and networks. */
export async function stopAllServers(): Promise<void> {
  // A folder on which a disk is mounted can't be removed.
  await unmountAll();
  await Promise.all([stopAllBrokers(), stopAllDatabases(), stopSharedControlPlane()]);
  await removeAllNetworks();
  closeRegisters();
}
