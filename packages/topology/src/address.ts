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
