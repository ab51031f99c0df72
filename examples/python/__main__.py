"""A delay network, an endpoint, a work queue with retries, and the service's user."""

import pulumi
from pulumi_rabbitmq_delay import DelayLevelTopology, EndpointDelayBinding, EndpointUser, Preset, Removal, WorkRetryQueues

config = pulumi.Config()

delay = DelayLevelTopology("delay", preset=Preset.CUSTOM, prefix="orders", radix=4, levels=4, removal=Removal.DELETE)
shipping = EndpointDelayBinding(
    "shipping", endpoint="Shipping", network=delay.network_json, create_queue=True, removal=Removal.DELETE
)
work = WorkRetryQueues("work", queue="work", delays=["5s", "1m"], removal=Removal.DELETE)
user = EndpointUser(
    "user",
    user="shipping",
    credentials=[{"password": config.require_secret("password")}],
    consumes=["Shipping"],
    network=delay.network_json,
    retries=[work.work_retry_json],
)

pulumi.export("delayNetwork", delay.network_json)
pulumi.export("workRetry", work.work_retry_json)
pulumi.export("users", user.users)
