import { mochaGlobalTeardown } from "./lifecycle";

// Stops the servers in the registers that the environment names; see lifecycle.ts.
void mochaGlobalTeardown();
