export { Hold, HoldMessage, HoldOptions, HoldQueueUse, HoldReceipt, holdFor } from "./holdFor";
