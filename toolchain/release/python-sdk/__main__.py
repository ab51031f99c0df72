import pulumi
from pulumi_rabbitmq_delay import DelayLevelTopology, EndpointDelayBinding, Preset

delay = DelayLevelTopology("delay", preset=Preset.CUSTOM, prefix="orders", radix=4, levels=4)
EndpointDelayBinding("billing", endpoint="Billing", network=delay.network_json, create_queue=True)

pulumi.export("delayNetwork", delay.network_json)
