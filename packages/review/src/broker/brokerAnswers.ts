/** The part of the management API that a review reads. `BrokerReader` of `@rabbitmq-delay/broker` implements it. */
export interface BrokerAnswers {
  /** The management API's address, without `/api`. */
  readonly managementUrl: string;
  /**
   * The parsed JSON of `path` below `/api/`; undefined if it does not exist.
   * @throws BrokerAnswerError for a broker out of reach, or an answer that can't be right
   */
  get<T>(path: string): Promise<T | undefined>;
}
