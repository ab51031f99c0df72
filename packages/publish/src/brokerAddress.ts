import { OpenRefusedError } from "./errors";

/** Why no connection could be opened. */
export interface ConnectionFailure {
  /** Reason in one line, without the address's user and password. */
  reason: string;
  /** Whether the broker refuses the user, the password or the vhost, which no later try changes by itself; a limit passes. */
  isRefused: boolean;
}

/**
 * Explains why amqplib could not connect.
 * @param url the address, as it was given
 * @param error from `explainOpening`
 */
export function connectionFailure(url: string, error: unknown): ConnectionFailure {
  const { message = "", code } = error as { message?: string; code?: string };
  const { host } = new URL(url);
  if (/ACCESS.REFUSED/.test(message)) {
    return { reason: `the broker at ${host} refuses the user or the password`, isRefused: true };
  }
  if (error instanceof OpenRefusedError) {
    const told = message.replace(/^[A-Z_]+ - /, "").replace(/ for user '.*?'(?=[:,]|$)/, "");
    if (/^vhost .* not found$|^access to vhost .* refused$/.test(told)) {
      const reason = `the broker at ${host} refuses vhost ${vhostOf(url)}: there is none of that name, or the user may not use it`;
      return { reason, isRefused: true };
    }
    return { reason: `the broker at ${host} opens no connection at the moment: ${told}`, isRefused: false };
  }
  if (/Expected ConnectionOpenOk/.test(message)) {
    return { reason: `the broker at ${host} opens no connection to vhost ${vhostOf(url)}`, isRefused: false };
  }
  if (code !== undefined || /timed?.?out|ETIMEDOUT/i.test(message)) {
    return { reason: `no broker at ${host} (${code ?? message}); make up starts a local one`, isRefused: false };
  }
  // Any other error of a handshake may repeat what was sent.
  const reason = `${host} does not answer as a broker does; is it AMQP's port, and amqps where it asks for TLS?`;
  return { reason, isRefused: false };
}

/** Returns the vhost of an address, as the library reads it. */
export function vhostOf(url: string): string {
  const vhost = new URL(url).pathname.slice(1);
  try {
    return vhost === "" ? "/" : decodeURIComponent(vhost);
  } catch {
    return vhost;
  }
}

/**
 * Compares an address with the vhost of a network: another vhost may have a network of the same names.
 * @returns what is wrong, in one line; undefined if it fits, or the network does not name its vhost
 */
export function vhostMismatch(url: string, { vhost }: { vhost?: string }): string | undefined {
  if (vhost === undefined || !URL.canParse(url) || vhostOf(url) === vhost) return undefined;
  return (
    `it leads to vhost ${vhostOf(url)}, and the network is declared in vhost ${vhost}; end the address with /` +
    encodeURIComponent(vhost)
  );
}
