// A delay network, an endpoint, a work queue with retries, and the service's user.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"github.com/rabbitmq-delay/rabbitmq-delay/sdk/go/rabbitmqdelay"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		gone := rabbitmqdelay.RemovalDelete
		delay, err := rabbitmqdelay.NewDelayLevelTopology(ctx, "delay", &rabbitmqdelay.DelayLevelTopologyArgs{
			Preset:  rabbitmqdelay.PresetCustom,
			Prefix:  pulumi.StringRef("orders"),
			Radix:   pulumi.IntRef(4),
			Levels:  pulumi.IntRef(4),
			Removal: &gone,
		})
		if err != nil {
			return err
		}
		_, err = rabbitmqdelay.NewEndpointDelayBinding(ctx, "invoicing", &rabbitmqdelay.EndpointDelayBindingArgs{
			Endpoint:    "Invoicing",
			Network:     delay.NetworkJson,
			CreateQueue: pulumi.BoolRef(true),
			Removal:     &gone,
		})
		if err != nil {
			return err
		}
		work, err := rabbitmqdelay.NewWorkRetryQueues(ctx, "work", &rabbitmqdelay.WorkRetryQueuesArgs{
			Queue:   "work",
			Delays:  []pulumi.Input{pulumi.String("5s"), pulumi.String("1m")},
			Removal: &gone,
		})
		if err != nil {
			return err
		}
		user, err := rabbitmqdelay.NewEndpointUser(ctx, "user", &rabbitmqdelay.EndpointUserArgs{
			User:        "invoicing",
			Credentials: []rabbitmqdelay.EndpointCredentialArgs{{Password: config.RequireSecret(ctx, "password").ToStringPtrOutput()}},
			Consumes:    []string{"Invoicing"},
			Network:     delay.NetworkJson,
			Retries:     []pulumi.Input{work.WorkRetryJson},
		})
		if err != nil {
			return err
		}
		ctx.Export("delayNetwork", delay.NetworkJson)
		ctx.Export("workRetry", work.WorkRetryJson)
		ctx.Export("users", user.Users)
		return nil
	})
}
