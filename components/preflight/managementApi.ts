import { readFileSync } from "node:fs";
import { Agent, fetch } from "undici";
import { BrokerCheckError } from "./brokerCheckError";

/** Where a broker's management API is, and who asks. */
export interface BrokerAddress {
  /** e.g. `http://127.0.0.1:15672` or `https://rabbit.example.com`. */
  managementUrl: string;
  /** A user with the tag `management`. */
  username: string;
  /** Its password. */
  password: string;
  /** File with the certificate authority of an `https` address, in PEM. */
  caCertFile?: string;
  /** Whether a certificate that can't be verified is accepted; default false. */
  insecure?: boolean;
}

/** A reply that is not a success; `status` is the HTTP status, or 0 when nothing answered. */
export class ManagementApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 10_000;

/** Reads of the RabbitMQ management API, each bounded in time. */
export class ManagementApi {
  private readonly dispatcher: Agent;

  /** @throws BrokerCheckError for a certificate file that can't be read */
  constructor(private readonly broker: BrokerAddress) {
    const ca = broker.caCertFile === undefined ? undefined : readCertificate(broker.caCertFile);
    this.dispatcher = new Agent({ connect: { ca, rejectUnauthorized: !broker.insecure }, keepAliveTimeout: 1 });
  }

  /** The parsed JSON of `path` below `/api/`. */
  async get<T>(path: string): Promise<T> {
    const { managementUrl, username, password } = this.broker;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const url = `${managementUrl.replace(/\/+$/, "")}/api/${path}`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let response;
    try {
      response = await fetch(url, { headers: { authorization }, dispatcher: this.dispatcher, signal });
    } catch (error) {
      throw new ManagementApiError(0, reason(error));
    }
    const text = await response.text();
    if (!response.ok) throw new ManagementApiError(response.status, text.slice(0, 200));
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ManagementApiError(response.status, `not JSON: ${text.slice(0, 80)}`);
    }
  }
}

function readCertificate(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new BrokerCheckError(`broker.caCertFile: ${file} can't be read (${(error as Error).message})`);
  }
}

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as { code?: string; message?: string };
  return message || code || String(cause);
}
