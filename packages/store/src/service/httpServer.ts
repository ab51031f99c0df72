import fastify, { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { StoreMismatchError } from "../errors";

/** The state of a running store. */
export interface Health {
  /** Red when a breaker has triggered, or messages wait for the error queue, which has not accepted them. */
  status: "green" | "red";
  /** Names of the breakers that have triggered. */
  triggered: string[];
  /** Last failure of each of these, and of those behind which messages wait, by the breaker's name. */
  reasons: Record<string, string>;
  /** Whether it takes messages in and sends them out. */
  isReady: boolean;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics`, and `/healthz?triggered` for liveness probes: a new start helps no message that waits.
 * @param address `HOST:PORT`
 * @throws StoreMismatchError if it can't listen there
 */
export async function serveHttp(address: string, health: () => Health, registry: Registry): Promise<FastifyInstance> {
  const split = address.lastIndexOf(":");
  const host = address.slice(0, split).replace(/^\[(.*)\]$/, "$1");
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.get("/healthz", ({ query }, reply) => {
    const now = health();
    const isHealthy = "triggered" in (query as object) ? now.triggered.length === 0 : now.status === "green";
    return reply.code(isHealthy ? 200 : 503).send(now);
  });
  server.get("/readyz", (_, reply) => {
    const now = health();
    return reply.code(now.isReady ? 200 : 503).send(now);
  });
  server.get("/metrics", async (_, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  try {
    await server.listen({ host, port: Number(address.slice(split + 1)) });
  } catch (error) {
    throw new StoreMismatchError(
      "http",
      `nobody can listen on ${address} (${(error as Error).message}); give another, or off`,
    );
  }
  return server;
}
