import { PodCluster, ordinals, untilAllRun } from "./cluster";

/** Something that happens to a cluster while messages wait in it. */
export interface Fault {
  name: string;
  inject: (cluster: PodCluster) => Promise<void>;
}

/** How long a node stays away or cut off; longer than the others take to notice. */
const AWAY_MS = 5000;
const CUT_OFF_MS = 20_000;

/** Kills each node once, the next one when all run again. */
export const killedNodes: Fault = {
  name: "each node killed, one after another",
  inject: async (cluster) => {
    for (const ordinal of ordinals(cluster)) {
      await cluster.pods.kill(ordinal);
      await pause(AWAY_MS);
      await cluster.pods.start(ordinal);
      await untilAllRun(cluster);
    }
  },
};

/** Restarts like an update of the image or of the settings: the highest ordinal first, each with its hook. */
export const rollingRestart: Fault = {
  name: "rolling restart",
  inject: async (cluster) => {
    for (const ordinal of ordinals(cluster).reverse()) {
      await cluster.pods.stop(ordinal);
      await cluster.pods.start(ordinal);
      await untilAllRun(cluster);
    }
  },
};

/** Cuts one node of three off from the others and from clients, and reconnects it. */
export const minorityCutOff: Fault = {
  name: "a minority cut off",
  inject: async (cluster) => {
    const minority = ordinals(cluster).slice(0, Math.floor(cluster.pods.spec.replicas / 2));
    for (const ordinal of minority) await cluster.pods.cutOff(ordinal);
    await pause(CUT_OFF_MS);
    for (const ordinal of minority) await cluster.pods.joinAgain(ordinal);
    await untilAllRun(cluster);
  },
};

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
