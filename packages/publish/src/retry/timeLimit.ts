/**
 * Waits for something for a limited time. A later result is not awaited any more, and a later rejection is ignored.
 * @param error makes the error when the time is over
 */
export async function withinTime<T>(work: Promise<T>, limitMs: number, error: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error()), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
