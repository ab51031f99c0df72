// Live changes of a network's matching.
export { EnforceError } from "./enforce/enforceError";
export { EnforceOptions, EnforceResult, enforceMatching } from "./enforce/enforceMatching";
export { Step } from "./enforce/step";

// The plan of such a change, without a broker.
export { LiveMatching } from "./enforce/liveMatching";
export { MatchingChange, planMatchingChange } from "./enforce/matchingChange";
export { isStillNext, planAllSteps, planSteps } from "./enforce/planSteps";

// What would adopt what a vhost has: the config of a stack.
export { AdoptedConfig } from "./adopt/adoptedConfig";
export { Adoption, planAdoption } from "./adopt/planAdoption";
export { AdoptionRemark, RemarkKind } from "./adopt/remark";
export { LiveContent } from "./adopt/liveVhost";
