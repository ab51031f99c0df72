import { stopAllServers } from "./allServers";

// Stops the servers in the registers that the environment names; see lifecycle.ts.
void stopAllServers();
