module rabbitmq-delay/toolchain/rabbitmq-cluster-operator

go 1.26

require github.com/rabbitmq/cluster-operator/v2 v2.16.0
