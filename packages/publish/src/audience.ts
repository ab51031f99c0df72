/**
 * Shares one listener of a source among all who want to hear of it, and removes it when nobody does: Node warns of more than ten listeners.
 */
export class Audience<News> {
  private readonly listeners = new Set<(news: News) => void>();
  private leave: () => void = () => undefined;

  /** @param listen begins to listen, and returns a function that stops it */
  constructor(private readonly listen: (tell: (news: News) => void) => () => void) {}

  /** @returns a function that removes the listener */
  add(listener: (news: News) => void): () => void {
    if (this.listeners.size === 0)
      this.leave = this.listen((news) => [...this.listeners].forEach((each) => each(news)));
    this.listeners.add(listener);
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.leave();
    };
  }
}

/** Keeps one audience for each source, without keeping the source alive. */
export function audiences<Source extends object, News>(
  listen: (source: Source, tell: (news: News) => void) => () => void,
): (source: Source) => Audience<News> {
  const known = new WeakMap<Source, Audience<News>>();
  return (source) => {
    const audience = known.get(source) ?? new Audience<News>((tell) => listen(source, tell));
    known.set(source, audience);
    return audience;
  };
}
