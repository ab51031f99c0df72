export { Hold, HoldMessage, HoldOptions, HoldQueueUse, HoldReceipt, holdFor } from "./holdFor";
export { DEFAULT_LEASE_MS } from "./lease";
