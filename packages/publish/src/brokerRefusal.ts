/** AMQP's codes by rabbitmq-client's names for them. */
const CODES: Record<string, number> = {
  ACCESS_REFUSED: 403,
  NOT_FOUND: 404,
  RESOURCE_LOCKED: 405,
  PRECONDITION_FAILED: 406,
};

/** AMQP's code of an error by which the broker closed a channel of amqplib or rabbitmq-client; undefined for any other error. */
export function refusalCode(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : CODES[String(code)];
}
