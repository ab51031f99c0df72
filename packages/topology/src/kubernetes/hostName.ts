/** Form of the name of a host; a star stands for its first word. */
export const HOST = /^(\*\.)?[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?$/;

/** Whether a text is the name of a host. */
export function isHostName(text: string): boolean {
  return HOST.test(text);
}
