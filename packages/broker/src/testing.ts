// Parts that tests and benches of the whole system use one by one. They may change with any release.
export { checkQueueLimit, queueLimitOf } from "./preflight/checkLimits";
