export {
  DelayedExchange,
  DelayedExchangeOptions,
  DelayedExchangePlan,
  delayedExchange,
  delayedExchangeSteps,
  foreignBindings,
  parseDelayedExchange,
  planDelayedExchange,
} from "./delayedExchange";
