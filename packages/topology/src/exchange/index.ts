export {
  DelayedExchange,
  DelayedExchangeOptions,
  delayedExchange,
  parseDelayedExchange,
  planDelayedExchange,
} from "./delayedExchange";
