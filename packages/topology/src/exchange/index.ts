export {
  DelayedExchange,
  DelayedExchangePlan,
  delayedExchange,
  delayedExchangeSteps,
  foreignBindings,
  parseDelayedExchange,
  planDelayedExchange,
} from "./delayedExchange";
