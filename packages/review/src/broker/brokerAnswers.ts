/** The part of the management API that a review reads. `BrokerReader` of `@rabbitmq-delay/broker` implements it. */
export interface BrokerAnswers {
  /** The management API's address, without `/api`. */
  readonly managementUrl: string;
  /**
   * The parsed JSON of `path` below `/api/`; undefined if it does not exist.
   * @throws BrokerAnswerError for a broker out of reach, or an answer that can't be right
   */
  get<T>(path: string): Promise<T | undefined>;
  /**
   * Counts the messages of queues at this moment, without those that consumers have in hand; the management API's own counts may be ten seconds
   * old. Queues that can't be counted are left out. Undefined if only the management API can be asked.
   */
  countNow?(vhost: string, queues: readonly string[]): Promise<ReadonlyMap<string, number>>;
}
