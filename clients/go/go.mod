module github.com/rabbitmq-delay/rabbitmq-delay/clients/go

go 1.21

require github.com/rabbitmq/amqp091-go v1.16.0
