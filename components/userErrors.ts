import { DelayTopologyError } from "@rabbitmq-delay/topology";

// The mark by which Pulumi's SDK tells a mistake of its user's from one of the code (`RunError.isInstance`): it shows the message without
// a stack of calls. The class has it as a whole, because a constructor refuses its arguments in many places.
Object.defineProperty(DelayTopologyError.prototype, "__pulumiRunError", { value: true, writable: true });
