module rabbitmq-delay/toolchain/pulumi-resource-rabbitmq

go 1.25

require (
	github.com/pulumi/pulumi-terraform-bridge/v3 v3.133.0
	github.com/terraform-providers/terraform-provider-rabbitmq v0.0.0
)

replace github.com/terraform-providers/terraform-provider-rabbitmq => github.com/cyrilgdn/terraform-provider-rabbitmq v1.8.0

replace github.com/hashicorp/terraform-plugin-sdk/v2 => github.com/pulumi/terraform-plugin-sdk/v2 v2.0.0-20260318212141-5525259d096b
