import { mochaGlobalTeardown } from "./lifecycle";

// Stops what the registers of the environment list; see lifecycle.ts.
void mochaGlobalTeardown();
