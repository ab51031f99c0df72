/** Whether two addresses of a management API are one, as they are written. */
export function isSameAddress(endpoint: unknown, url: string): boolean {
  if (typeof endpoint !== "string" || !URL.canParse(endpoint) || !URL.canParse(url)) return false;
  const [one, other] = [endpoint, url].map((address) => {
    const { protocol, hostname, port, pathname } = new URL(address);
    const host = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? "localhost" : hostname;
    return JSON.stringify([protocol, host, port, pathname.replace(/\/$/, "")]);
  });
  return one === other;
}

/**
 * Returns the way out if what answers at an address is not the management API, whose paths begin with `/api`.
 * @param otherwise the way out for an address that does not end with `/api`
 */
export function managementWayOut(
  managementUrl: string,
  otherwise = "give its address, without a path and by default with port 15672",
): string {
  return /\/api\/?$/.test(managementUrl) ? "the address ends before /api" : otherwise;
}
