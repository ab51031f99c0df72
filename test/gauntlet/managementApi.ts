import { fetch } from "undici";

const ATTEMPTS = 3;

/** The management API of the round's broker. */
export class ManagementApi {
  constructor(
    private readonly url: string,
    private readonly login: string,
  ) {}

  /** @throws Error with what the broker says */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.callOnce(method, path, body);
      } catch (error) {
        // The broker closes connections that were idle, or closed its own meanwhile; all calls can be repeated.
        if (!(error instanceof TypeError) || attempt === ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  private async callOnce<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/api/${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(this.login).toString("base64")}`,
        "content-type": "application/json",
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${text.slice(0, 500)}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}
