// Parts that tests and benches of the whole system use one by one. They may change with any release.
export { main } from "./main";
export { renderDefinitions } from "./render/definitions";
export { networkPlan } from "./render/plan";
