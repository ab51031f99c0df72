// The gateway as a process of its own: any delay by the header `x-delay`, in a delay network, without a database.
export { GatewayOptions, GatewaySettings, gatewaySchema, gatewaySettings } from "./gatewayOptions";
export { runGateway } from "./gatewayService";
export { CriticalError } from "../service/brokerProcess";
