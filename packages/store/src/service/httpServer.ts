import fastify, { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { StoreMismatchError } from "../errors";

/** The state of a running store. */
export interface Health {
  /** Red when a breaker has triggered. */
  status: "green" | "red";
  /** Names of those breakers. */
  triggered: string[];
  /** Last failure of each of those, by its name. */
  reasons: Record<string, string>;
  /** Whether it takes messages in and sends them out. */
  isReady: boolean;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics`.
 * @param address `HOST:PORT`
 * @throws StoreMismatchError if it can't listen there
 */
export async function serveHttp(address: string, health: () => Health, registry: Registry): Promise<FastifyInstance> {
  const split = address.lastIndexOf(":");
  const host = address.slice(0, split).replace(/^\[(.*)\]$/, "$1");
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.get("/healthz", (_, reply) => {
    const now = health();
    return reply.code(now.status === "green" ? 200 : 503).send(now);
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
