"""A delay network, an endpoint, a work queue with retries, and the service's user."""

import re

import pulumi
from pulumi_rabbitmq_delay import DelayLevelTopology, EndpointDelayBinding, EndpointUser, Preset, Removal, WorkRetryQueues

config = pulumi.Config()


def descriptor(value):
    """A descriptor as services and other components read it: the SDK renames `delaysMs` to `delays_ms`, and so on."""
    if isinstance(value, dict):
        return {re.sub("_(.)", lambda found: found[1].upper(), key): descriptor(item) for key, item in value.items()}
    return [descriptor(item) for item in value] if isinstance(value, list) else value


delay = DelayLevelTopology("delay", preset=Preset.CUSTOM, prefix="orders", radix=4, levels=4, removal=Removal.DELETE)
shipping = EndpointDelayBinding(
    "shipping", endpoint="Shipping", network=delay.network, create_queue=True, removal=Removal.DELETE
)
work = WorkRetryQueues("work", queue="work", delays=["5s", "1m"], removal=Removal.DELETE)
user = EndpointUser(
    "user",
    user="shipping",
    credentials=[{"password": config.require_secret("password")}],
    consumes=["Shipping"],
    network=delay.network,
    retries=[work.work_retry.apply(descriptor)],
)

pulumi.export("delayNetwork", delay.network.apply(descriptor))
pulumi.export("workRetry", work.work_retry.apply(descriptor))
pulumi.export("users", user.users)
