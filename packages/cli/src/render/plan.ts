import type { BindingPlan, DelayNetwork, EntityPlan, PolicyPlan } from "rabbitmq-delay-topology";

/** All that is drawn or printed. */
export interface RenderedPlan extends EntityPlan {
  network: DelayNetwork;
  endpointBindings: BindingPlan[];
  policy?: PolicyPlan;
}
