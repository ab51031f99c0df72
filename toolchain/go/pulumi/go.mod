module rabbitmq-delay/toolchain/pulumi

go 1.25

require (
	github.com/pulumi/pulumi/pkg/v3 v3.220.0
	github.com/pulumi/pulumi/sdk/v3 v3.220.0
)
