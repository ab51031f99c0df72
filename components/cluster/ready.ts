import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError, BrokerAddress, ManagementApi, ManagementApiError } from "@rabbitmq-delay/broker";

/** How often the cluster is asked, and how often somebody who waits is told. */
const PAUSE_MS = 1000;
const NOTICE_MS = 15_000;

/** What to wait for. */
export interface Readiness {
  broker: BrokerAddress;
  /** How many nodes must run. */
  nodes: number;
  limitMs: number;
  /** How a reader of the error would reach the API. */
  remedy: string;
}

/**
 * Waits until a cluster's management API answers and all nodes run.
 * @throws BrokerCheckError after the limit, and at once for a refused password: waiting mends nothing there
 */
export async function untilReady(
  { broker, nodes, limitMs, remedy }: Readiness,
  notice: (line: string) => void = (line) => void pulumi.log.info(line, undefined, undefined, true),
): Promise<void> {
  const api = new ManagementApi(broker);
  const start = Date.now();
  let last = start;
  for (;;) {
    const state = await look(api, nodes);
    if (state === "ready") return;
    const waited = Date.now() - start;
    if (state === "refused") {
      throw new BrokerCheckError(
        `username: the cluster at ${broker.managementUrl} refuses ${broker.username} or its password; a cluster knows the ` +
          "administrator that it was born with",
      );
    }
    if (waited >= limitMs) {
      const seconds = Math.round(waited / 1000);
      throw new BrokerCheckError(
        `managementUrl: ${broker.managementUrl} is not ready after ${seconds} s: ${state}; ${remedy}`,
      );
    }
    if (Date.now() - last >= NOTICE_MS) {
      notice(`waiting for ${broker.managementUrl}: ${state}`);
      last = Date.now();
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(PAUSE_MS, limitMs)));
  }
}

/** `ready`, `refused`, or what is missing. */
async function look(api: ManagementApi, needed: number): Promise<string> {
  try {
    const nodes = await api.get<{ name: string; running: boolean }[]>("nodes?columns=name,running");
    const running = nodes.filter((node) => node.running).length;
    return running >= needed ? "ready" : `${running} of ${needed} nodes run`;
  } catch (error) {
    const { status, message } = error as ManagementApiError;
    if (status === 401) return "refused";
    return status === 0 ? `no answer (${message})` : `HTTP ${status}`;
  }
}
