"""A delay network, an endpoint and a work queue with retries.

The components run in their own process; here they are classes that name their type, arguments and outputs.
`pulumi package add ../../plugin` generates such classes with types and documentation.
"""

import pulumi


class DelayLevelTopology(pulumi.ComponentResource):
    """See `pulumi package get-schema` for all arguments."""

    network: pulumi.Output[dict]

    def __init__(self, name: str, args: pulumi.Inputs, opts: pulumi.ResourceOptions | None = None):
        super().__init__("rabbitmq-delay:index:DelayLevelTopology", name, {**args, "network": None}, opts, remote=True)


class EndpointDelayBinding(pulumi.ComponentResource):
    """Lets one queue or exchange of a service receive the delayed messages of a network."""

    destination: pulumi.Output[str]

    def __init__(self, name: str, args: pulumi.Inputs, opts: pulumi.ResourceOptions | None = None):
        super().__init__("rabbitmq-delay:index:EndpointDelayBinding", name, {"destination": None, **args}, opts, remote=True)


class WorkRetryQueues(pulumi.ComponentResource):
    """A work queue with its retry queues and its dead queue."""

    workRetry: pulumi.Output[dict]

    def __init__(self, name: str, args: pulumi.Inputs, opts: pulumi.ResourceOptions | None = None):
        super().__init__("rabbitmq-delay:index:WorkRetryQueues", name, {**args, "workRetry": None}, opts, remote=True)


delay = DelayLevelTopology("delay", {"preset": "custom", "prefix": "orders", "radix": 4, "levels": 4, "removal": "delete"})
shipping = EndpointDelayBinding(
    "shipping",
    {"endpoint": "Shipping", "network": delay.network, "createQueue": True, "removal": "delete"},
)
work = WorkRetryQueues("work", {"queue": "work", "delays": ["5s", "1m"], "removal": "delete"})

pulumi.export("delayNetwork", delay.network)
pulumi.export("workRetry", work.workRetry)
