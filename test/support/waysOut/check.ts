/** Excerpts of the ways out that `rabbitmq-delay check` prints, by the file that holds the text and by an id. */
export const texts = {
  "packages/broker/src/audit/auditPlan.ts": {
    "check-declare-again": "drain and delete it, and declare it again",
    "check-declare-missing": "or stop the queue before it; declare it again",
    "check-bind-again": "or stop the queue before it; bind it again",
    "check-unbind-shortcut": "${harm}; unbind it",
    "check-policy-priority": "if none does, give it another priority and the former one again",
    "check-set-policy": "or run pulumi up --refresh where a stack has it",
    "check-stop-consumer": "stop what consumes the queue",
  },
  "packages/broker/src/audit/auditParts.ts": {
    "check-declare-target-again": "declare it again, and run pulumi up --refresh",
  },
  "packages/broker/src/audit/bindingCollisions.ts": {
    "check-bind-exactly": "or give the destinations other names",
    "check-patterns-apart": "unbind one of them, or give them names and patterns apart",
  },
  "packages/broker/src/audit/brokerFindings.ts": {
    "check-statistics": "so that nothing is known of either; switch them on for this check",
    "check-bind-parked": "bind the endpoint, and move them to it",
    "check-bind-parked-exchange": "bind the queue or declare the delay, and move them",
    "check-move-failed": "look at them, and move them back or drop them",
    "check-remove-empty": "check the stack that declares it, or remove it once it is empty",
  },
  "packages/broker/src/audit/delayQueueFindings.ts": {
    "check-classic": "make it classic, or take its expiry away",
    "check-classic-declared": "make it classic and declare it before each message, or take its expiry away",
    "check-longer-expiry": "give it a longer expiry, or none",
    "check-dead-letter-exchange": "give it one, if they are only to wait",
    "check-other-target": "give it another target, or a queue between that a consumer empties",
    "check-declare-queue": "declare the queue",
    "check-declare-exchange": "declare the exchange",
    "check-bind-something": "bind something to it",
    "check-bind-by-key": "bind something to it with",
  },
  "packages/broker/src/audit/enforcedFindings.ts": {
    "check-declare-binding": "declare an EndpointDelayBinding for it",
    "check-unbind-unclaimed": "Declare an EndpointDelayBinding for it, or unbind it",
  },
  "packages/broker/src/audit/messageTypeFindings.ts": {
    "check-name-type":
      "in messageTypes of its EndpointUser, or remove the binding if the type no longer has such a base",
    "check-declare-user": "declare its EndpointUser again, which grants them with any message type",
  },
  "packages/broker/src/audit/stalledLevels.ts": {
    "check-stalled-exchange": "declare it again, and they go on within some minutes",
    "check-stalled-unbound": "bind its destinations, and they go on within some minutes",
    "check-stalled-key": "no binding takes their keys (bind the endpoint, or give the network parking)",
    "check-stalled-loop": "leave that header out, and free them by an update to 4.0 or newer",
  },
  "packages/broker/src/preflight/brokerVersion.ts": {
    "check-management-plugin": "rabbitmq-plugins enable rabbitmq_management lets a broker ",
  },
  "packages/topology/src/address.ts": {
    "check-management-address": "give its address, without a path ",
  },
  "packages/topology/src/exchange/delayedExchange.ts": {
    "check-unbind-former": "as a former delivery exchange that was left on the broker; unbind it",
    "check-unbind-copied": "gets copies of what has another delay, or of what nobody takes; unbind it",
    "check-unbind-back": "leads messages back whose time is over; unbind it",
    "check-unbind-delayed": "delays messages that did not ask for it; publish them to ",
  },
  "packages/topology/src/audit.ts": {
    "check-unbind": "unbind it, or bind it exactly",
    "check-quorum-queue": ", and names that no client declares as classic queues",
    "check-without-lease": " without leaseMs",
    "check-at-least-once": "set atLeastOnce: true",
    "check-quorum-network": "take queueType quorum",
    "check-quorum-preset": "take preset nservicebus",
    "check-leased": "only publishers that declare it before each message may use it",
  },
} as const;

/** Ways out that no test follows, with the reason. */
export const undone = {};

const compared = [
  "test/brokers/check.test.ts",
  "compares all of a network with the plan, and names what is missing, different or added",
] as const;
const leased = [
  "test/brokers/holds.test.ts",
  "renews the lease with each message; the queue goes when it is over",
] as const;

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy = {
  "check-declare-again": compared,
  "check-bind-again": compared,
  "check-unbind-shortcut": compared,
  "check-leased": leased,
  "check-move-failed": [
    "test/brokers/retries.test.ts",
    "a message that is moved back out of the error queue gets all its delayed retries again",
  ],
  "check-classic-declared": leased,
} as const;
