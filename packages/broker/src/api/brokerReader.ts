import { STATUS_CODES } from "node:http";
import { BrokerAnswerError } from "@rabbitmq-delay/topology/stack";
import { BrokerAddress, ManagementApi, ManagementApiError } from "./managementApi";

/** Reads from the management API, for commands that only look. An answer that can't be read is an error, and never counts as empty. */
export class BrokerReader {
  /** The address, without `/api` and without a slash at its end. */
  readonly managementUrl: string;
  private readonly api: ManagementApi;

  /** @throws BrokerCheckError for an invalid address, and for a certificate file that can't be read */
  constructor(address: BrokerAddress) {
    this.api = new ManagementApi(address);
    this.managementUrl = address.managementUrl.replace(/\/+$/, "");
  }

  /**
   * The parsed JSON of `path` below `/api/`.
   * @returns undefined if it does not exist (HTTP 404)
   * @throws BrokerAnswerError for a broker that is out of reach or refuses, or an answer that is not JSON
   */
  async get<T>(path: string): Promise<T | undefined> {
    try {
      return await this.api.get<T>(path);
    } catch (error) {
      if (!(error instanceof ManagementApiError)) throw error;
      const { status, message } = error;
      if (status === 404) return undefined;
      throw new BrokerAnswerError(`${this.showPath(status === 0 ? "" : path)} ${reasonOf(status, message)}`);
    }
  }

  /**
   * A list that must exist.
   * @throws BrokerAnswerError for anything that is not a list of objects
   */
  async list<T extends object>(path: string): Promise<T[]> {
    const answer = await this.get<unknown>(path);
    const isList = Array.isArray(answer) && answer.every((entry) => typeof entry === "object" && entry !== null);
    if (isList) return answer as T[];
    const what = answer === undefined ? "is not there (HTTP 404)" : "is not a list";
    throw new BrokerAnswerError(`${this.showPath(path)} ${what}; is it the management API's address?`);
  }

  private showPath(path: string): string {
    const [place = ""] = path.split("?");
    return place === "" ? `${this.managementUrl}/api` : `${this.managementUrl}/api/${place}`;
  }
}

function reasonOf(status: number, message: string): string {
  if (status === 0) return `does not answer (${message})`;
  if (status < 300) return "does not answer in JSON; is it the management API's address?";
  const why =
    status === 401
      ? "user or password is wrong, or the user lacks the tag management or rights on the vhost"
      : (STATUS_CODES[status] ?? "refused");
  return `answers HTTP ${status}, ${why}`;
}
