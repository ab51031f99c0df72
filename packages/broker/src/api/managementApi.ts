import { readFileSync } from "node:fs";
import { StackConfig, holdsCredentials, showPath, shownAddress } from "@rabbitmq-delay/topology/stack";
import type { Dispatcher } from "undici";
import { BrokerCheckError } from "../brokerCheckError";
import { dispatcherFor, proxyOf } from "./dispatcher";

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
  /** The content of such a file. */
  ca?: Buffer;
  /** Whether a certificate that can't be verified is accepted; default false. */
  insecure?: boolean;
}

/** A reply that is not a success; `status` is the HTTP status, or 0 when nothing answered. */
export class ManagementApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Whether the request timed out: something slow or silent may be there, which is not the same as nothing. */
    readonly isTimeOut = false,
  ) {
    super(message);
  }

  /** Cause of the failure, for the end of a message. */
  get reason(): string {
    if (this.status === 0) return `no broker answers (${this.message})`;
    return this.message === "" ? `HTTP ${this.status}` : `HTTP ${this.status}: ${this.message}`;
  }
}

const TIMEOUT_MS = 10_000;

/**
 * A reading is sent again, at most twice, when its connection ends before the answer: a busy broker closes connections that were about to be used again.
 * A status is an answer, and a refused connection a broker that is not there, so neither is tried again.
 */
const RETRIES = {
  methods: ["GET" as const],
  errorCodes: ["ECONNRESET", "UND_ERR_SOCKET"],
  statusCodes: [],
  maxRetries: 2,
  minTimeout: 100,
};

/** Requests to the RabbitMQ management API, each bounded in time. */
export class ManagementApi {
  private readonly ca: Buffer | undefined;
  private dispatcher: Promise<Dispatcher> | undefined;

  /**
   * @throws BrokerCheckError for an address that is invalid or names a user, for a name with a colon, or for a certificate file that can't
   * be read
   */
  constructor(private readonly broker: BrokerAddress) {
    checkAddress("broker.managementUrl", broker.managementUrl);
    checkUsername(broker.username);
    this.ca = broker.caCertFile === undefined ? broker.ca : readCertificate(broker.caCertFile);
    proxyOf(broker.managementUrl);
  }

  /** The address, without what might be a password. */
  get managementUrl(): string {
    return shownAddress(this.broker.managementUrl);
  }

  /** The user who asks. */
  get username(): string {
    return this.broker.username;
  }

  /** The parsed JSON of `path` below `/api/`. */
  async get<T>(path: string): Promise<T> {
    const { status, isOk, text } = await this.call("GET", path);
    if (!isOk) throw new ManagementApiError(status, text.slice(0, 200));
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ManagementApiError(status, `not JSON: ${text.slice(0, 80)}`);
    }
  }

  /** The HTTP status with which a request ends. */
  async attempt(method: string, path: string, body: unknown): Promise<number> {
    return (await this.call(method, path, body)).status;
  }

  /** Sends what changes something. @throws ManagementApiError for an answer that is not a success */
  async send(method: "PUT" | "POST" | "DELETE", path: string, body?: unknown): Promise<void> {
    const { status, isOk, text } = await this.call(method, path, body);
    if (!isOk) throw new ManagementApiError(status, text.slice(0, 200));
  }

  /** How requests go to the broker; created by the first one. */
  private route(): Promise<Dispatcher> {
    return (this.dispatcher ??= this.open());
  }

  private async open(): Promise<Dispatcher> {
    const { managementUrl, insecure } = this.broker;
    const dispatcher = await dispatcherFor(managementUrl, { ca: this.ca, rejectUnauthorized: !insecure });
    const { interceptors } = await import("undici");
    return dispatcher.compose(interceptors.retry(RETRIES));
  }

  private async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; isOk: boolean; text: string }> {
    const { managementUrl, username, password } = this.broker;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const url = `${managementUrl.replace(/\/+$/, "")}/api/${path}`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers = { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const sent = body === undefined ? undefined : JSON.stringify(body);
    try {
      const { fetch } = await import("undici");
      const dispatcher = await this.route();
      const response = await fetch(url, { method, headers, body: sent, dispatcher, signal });
      return { status: response.status, isOk: response.ok, text: await response.text() };
    } catch (error) {
      if (isTimeOut(error)) throw new ManagementApiError(0, `nothing for ${TIMEOUT_MS / 1000} s`, true);
      throw new ManagementApiError(0, reason(error));
    }
  }
}

/** Refuses a name with a colon. HTTP can't carry it, and it may be a whole address, or a name with its password, so no message shows it. */
function checkUsername(username: string): void {
  if (!username.includes(":")) return;
  throw new BrokerCheckError(
    "broker.username: this text is not allowed; it has a colon, which no name that is sent to the management API may have: give the " +
      "name alone, and the password by RABBITMQ_PASSWORD or pulumi config set --secret brokerPassword",
  );
}

/**
 * Checks an address; errors say what is wrong without showing any part that might be a password.
 * @param property what the error should call it
 * @throws BrokerCheckError for an invalid address, and for one with a user in it, because every message that names the address would show
 * the user
 */
export function checkAddress(property: string, address: string): void {
  if (typeof address === "string") checkHoldsNoLogin(property, address);
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new BrokerCheckError(
      `${property}: it must be an address like https://rabbit.example.com:15671; what was given is none`,
    );
  }
}

/**
 * Looks for logins in the addresses of a stack's config before anything else of it is read, because every other refusal can wait.
 * @param config its values by key, none of them checked
 * @throws BrokerCheckError without any part that might be a password
 */
export function checkAddressesHoldNoLogin(config: Readonly<Record<string, unknown>>): void {
  for (const part of ["broker", "cluster"]) {
    const { managementUrl } = (config[part] ?? {}) as { managementUrl?: unknown };
    if (typeof managementUrl === "string") checkHoldsNoLogin(`${part}.managementUrl`, managementUrl);
  }
}

function checkHoldsNoLogin(property: string, address: string): void {
  if (!holdsCredentials(address)) return;
  throw new BrokerCheckError(
    `${property}: it must not hold a user or a password (${shownAddress(address)}); give broker.username, and the ` +
      `password by RABBITMQ_PASSWORD or pulumi config set --secret brokerPassword`,
  );
}

/**
 * Checks the addresses of a stack's config.
 * @param managementUrl the broker's, where the environment gives it
 * @throws BrokerCheckError as {@link checkAddress} does
 */
export function checkConfigAddresses(
  { broker, cluster }: Pick<StackConfig, "broker" | "cluster">,
  managementUrl = broker?.managementUrl,
): void {
  const addresses = { "broker.managementUrl": managementUrl, "cluster.managementUrl": cluster?.managementUrl };
  for (const [property, address] of Object.entries<unknown>(addresses)) {
    if (typeof address === "string") checkAddress(property, address);
  }
}

function readCertificate(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw new BrokerCheckError(`broker.caCertFile: ${showPath(file)} can't be read (${code})`);
  }
}

function isTimeOut(error: unknown): boolean {
  const causes = [error, (error as Error).cause] as ({ name?: string; code?: string } | undefined)[];
  return causes.some((one) => one?.name === "TimeoutError" || /TIMEOUT|ETIMEDOUT/.test(one?.code ?? ""));
}

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as { code?: string; message?: string };
  return message || code || String(cause);
}
