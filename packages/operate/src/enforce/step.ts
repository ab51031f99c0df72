import type { BindingPlan, PolicyPlan, QueuePlan } from "@rabbitmq-delay/topology";

/** One thing that is done to the broker, or waited for. */
export type Step =
  | { do: "declare-exchange" | "delete-exchange"; exchange: string }
  | { do: "declare-queue"; queue: QueuePlan }
  | { do: "bind" | "unbind"; binding: BindingPlan }
  | { do: "set-policy"; policy: PolicyPlan }
  | { do: "delete-policy"; policy: string }
  /** Until the queue takes messages in, which takes a new quorum queue some seconds, and has its policy, if one is named. */
  | { do: "await-ready"; queue: string; policy?: string }
  /** Until the exchange shows the policy. */
  | { do: "await-policy"; exchange: string; policy: string }
  /** Until nothing is in a queue that nothing is bound to any more; it is deleted then. */
  | { do: "drain-queue"; queue: string };
