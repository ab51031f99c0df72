module rabbitmq-delay/toolchain/kubernetes-definitions

go 1.26

require (
	github.com/cert-manager/cert-manager v1.19.1
	github.com/prometheus-operator/prometheus-operator v0.78.2
	github.com/rabbitmq/cluster-operator/v2 v2.16.0
)
