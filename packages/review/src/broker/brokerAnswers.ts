/** What a review asks of a broker: its management API, read alone. `BrokerReader` of `@rabbitmq-delay/broker` is one. */
export interface BrokerAnswers {
  /** The management API's address, without `/api`. */
  readonly managementUrl: string;
  /**
   * The parsed JSON of `path` below `/api/`; undefined for what is not there.
   * @throws BrokerAnswerError for a broker out of reach, or an answer that can't be one
   */
  get<T>(path: string): Promise<T | undefined>;
}
