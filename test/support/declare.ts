export { declarePlan as declareOverAmqp } from "@rabbitmq-delay/store/testing";
