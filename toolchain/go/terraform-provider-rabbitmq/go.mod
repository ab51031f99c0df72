module rabbitmq-delay/toolchain/terraform-provider-rabbitmq

go 1.25

require github.com/terraform-providers/terraform-provider-rabbitmq v0.0.0

replace github.com/terraform-providers/terraform-provider-rabbitmq => github.com/cyrilgdn/terraform-provider-rabbitmq v1.8.0
