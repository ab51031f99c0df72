export { Allowance, allowances } from "./allowances";
// The management API.
export {
  BrokerAddress,
  ManagementApi,
  ManagementApiError,
  checkAddress,
  checkAddressesHoldNoLogin,
  checkConfigAddresses,
} from "./api/managementApi";
export { FoundBinding, asPlans } from "./api/bindings";
export { BrokerReader } from "./api/brokerReader";

// Audit: what in a vhost could misroute, lose or hold back messages, for the command's check.
export { areStatisticsOff } from "./audit/brokerFindings";
export { Checked } from "./audit/checked";
export { Found, VhostContent, readContent, readVhost } from "./audit/readVhost";
export { PlannedPart, auditPart, auditShortcuts } from "./audit/auditPlan";
export { auditVhost } from "./audit/auditVhost";
export { BrokerFault, BrokerFaultId, brokerFaultIds, brokerFaults, describeFault, faultsOf } from "./brokerFaults";

// Preflight: checks of a broker before anything is declared, for components and programs.
export { BrokerCheckError, shownAlone } from "./brokerCheckError";
export { OwnResource, StackState } from "./preflight/stackState";
export { Expectation, checkBroker } from "./preflight/checkBroker";
export { VersionNeed, checkVersion } from "./preflight/brokerVersion";
export { RightsNeed, checkRights } from "./preflight/rights";
export { FoundParts, WantedParts, checkWanted, findParts } from "./preflight/checkWanted";
export { compareInProgram } from "./preflight/inProgram";
