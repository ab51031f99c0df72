export { checkDelayMs, readDelays } from "./delays";
export {
  RetryIntervals,
  RetryIntervalsOptions,
  intervalExchange,
  intervalName,
  parseRetryIntervals,
  planRetryIntervals,
  planReturnBinding,
  retryIntervals,
} from "./retryIntervals";
