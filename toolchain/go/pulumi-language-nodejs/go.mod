module rabbitmq-delay/toolchain/pulumi-language-nodejs

go 1.25

require github.com/pulumi/pulumi/sdk/v3 v3.68.0
