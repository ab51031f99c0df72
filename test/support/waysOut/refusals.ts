/** Excerpts of the ways out of refusals and warnings that tests of the refusing part follow, by the file that holds the text and by an id. */
export const texts = {
  "packages/broker/src/preflight/checkDifferences.ts": {
    "refusal-bind-as-it-is": "Leave out createQueue or client to bind the queue as it is",
    "refusal-give-arguments": "or give its queueType and, in a program, queueArguments as the broker has them",
    "refusal-other-endpoint": "or choose another name for the endpoint",
    "refusal-drain-endpoint": "; or drain and delete the queue",
    "refusal-replace-by-refresh": "until pulumi up --refresh replaces it",
  },
  "packages/broker/src/preflight/checkWanted.ts": {
    "refusal-name-output": "give destination as that resource's name output",
    "refusal-adopt-here": ", and then set adopt: true here",
  },
  "packages/broker/src/preflight/claims.ts": {
    "refusal-former-owners": "or its owner was called before, add it to formerOwners",
    "refusal-forget-claimed": "If this stack made it too, let it forget that before it leaves the program",
    "refusal-other-claim": "Choose another name here. If ",
    "refusal-out-under-retain": "first, under removal: retain (exchange",
    "refusal-lost-claim": "another stack could take the name. pulumi up --refresh declares it again",
  },
  "packages/broker/src/preflight/exclusiveQueues.ts": {
    "refusal-leave-exclusive-out": "Let its client declare a queue that stays, or leave it out here",
  },
  "packages/broker/src/preflight/inProgram.ts": {
    "refusal-one-error-queues": "Name it in one ErrorQueues, and in no errorQueue of an endpoint",
    "refusal-refresh-after-leaving": "Run pulumi up --refresh then, which declares it again",
  },
  "packages/broker/src/preflight/leftNetworks.ts": {
    "refusal-join-both": "Declare the new network beside the old one, let the endpoint join both",
  },
  "packages/broker/src/preflight/otherBroker.ts": {
    "refusal-stack-per-broker": "take a stack of its own for it (pulumi stack init)",
    "refusal-declare-lost": "as there and declares none of it; run pulumi up --refresh",
  },
  "packages/broker/src/preflight/plannedQueues.ts": {
    "refusal-other-prefix": "Choose another prefix, endpoint or vhost",
  },
  "packages/broker/src/preflight/rights.ts": {
    "refusal-add-tag": "Add the tag by rabbitmqctl set_user_tags",
  },
  "packages/broker/src/brokerFaults.ts": {
    "refusal-allow-fault": "}] silences this",
  },
  "packages/topology/src/adoption.ts": {
    "refusal-unbind-strange": "messages would go that way as well: unbind it",
    "refusal-give-delays": "give delays, rejected or patterns as the broker has them",
  },
  "components/declare.ts": {
    "refusal-readable-state": "See that the stack's backend can be read, and run the update again",
  },
  "packages/store/src/control/client.ts": {
    "refusal-look-again": "What was asked for may still be done; look again",
  },
  "components/oneUrn.ts": {
    "refusal-readable-backend": "which would end with none; see that the stack's backend can be read",
    "refusal-parent-alias": "aliases: [{ parent: OLD_PARENT }]",
    "refusal-rename-by-alias": "rename a component by aliases",
  },
  "packages/operate/src/adopt/foundEndpoints.ts": {
    "refusal-match-exactly": "lets it match exactly",
    "refusal-tell-apart": "or let the network tell them apart: rabbitmq-delay enforce --preset",
  },
  "packages/operate/src/adopt/foundNetworks.ts": {
    "refusal-add-parking": "the stack adds one, beside the network",
    "refusal-let-enforce-end": "let it end, or run rabbitmq-delay enforce --preset",
  },
  "packages/broker/src/audit/enforcedFindings.ts": {
    "refusal-enforce-again": "Let it end, or run rabbitmq-delay enforce --preset",
  },
  "packages/store/src/sql/migrations.ts": {
    "refusal-set-up": "; set it up first (rabbitmq-delay store set-up)",
    "refusal-set-up-again": "; set it up again (rabbitmq-delay store set-up)",
  },
  "packages/store/src/postgres/rights.ts": {
    "refusal-grant": "; let their owner run GRANT ",
  },
  "packages/store/src/service/brokerProcess.ts": {
    "refusal-lift-limit": "; give that policy delivery-limit -1, or a lower priority",
    "refusal-take-limit-out": "; take delivery-limit out of that policy, or narrow its pattern",
    "refusal-give-management": "; give --management, or declare them by a stack",
  },
  "packages/store/src/service/storeService.ts": {
    "refusal-moved": "or start it once with --moved if they are for this one from now on",
  },
  "packages/broker/src/preflight/matchingChange.ts": {
    "refusal-change-first": " first, which changes the live network without losing a message, and then pulumi refresh",
  },
  "packages/cli/src/enforce.ts": {
    "refusal-go-on": "What was done stays; run it again to go on",
    "refusal-refresh-stacks": "run pulumi refresh in each stack that declares it or joins it, and then set matching: ",
  },
  "packages/topology/src/network/topic.ts": {
    "refusal-allow-pair": " to allow where that is meant",
  },
  "packages/topology/src/policies/deliveryLimit.ts": {
    "refusal-leave-limit-out": "Leave the argument out: before ",
  },
  "components/transforms.ts": {
    "refusal-leave-transform": "Leave resources of this component out of the transform",
  },
  "program/networks.ts": {
    "refusal-leave-network": "; leave it there, because the engine takes it for another one here",
  },
  "program/production.ts": {
    "refusal-production-retain": "; set removal: retain",
    "refusal-production-quorum": "; take a quorum network",
    "refusal-production-allow": " to allow`",
    "refusal-production-https": " is plain text; give an https address",
    "refusal-production-ca": "; give caCertFile instead",
    "refusal-production-user": "broker.username: guest is everybody; give a user of its own",
  },
  "packages/topology/src/audit.ts": {
    "refusal-parking": "; set parking: true",
    "refusal-exact": "set matching: exact",
  },
} as const;

/** Ways out that no test follows, with the reason. */
export const undone = {};

const anothersQueue = "another's queue with an endpoint's name and other arguments, under removal: delete too";
const ownership = "test/engine/ownership.test.ts";
const refusals = "test/engine/refusals.test.ts";
const passingOn = "test/engine/passingOn.test.ts";
const adoption = "test/engine/adoption.test.ts";
const deliveryLimit = "test/store/deliveryLimit.test.ts";
const otherPolicy = "a store whose policies another one keeps from applying says which";
const enforced = "test/engine/enforced.test.ts";
const changedLive =
  "is refused until the live network is changed and read into the state; then nothing is declared anew";
const production = [
  "test/engine/production.test.ts",
  "refuses what no production broker should have, unless its config says so in those words",
] as const;
const enforceLive = "test/brokers/enforceLive.test.ts";

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy = {
  "refusal-bind-as-it-is": [refusals, anothersQueue],
  "refusal-give-arguments": [refusals, anothersQueue],
  "refusal-other-endpoint": [refusals, anothersQueue],
  "refusal-drain-endpoint": [refusals, "a service's own stack whose queue is there with other arguments"],
  "refusal-replace-by-refresh": [
    adoption,
    "says when another stack has what it adopts, and what removal: delete would take",
  ],
  "refusal-name-output": [
    ownership,
    "a binding is looked for at the queue that the program declares, and a queue that nobody declares is refused",
  ],
  "refusal-former-owners": [ownership, "a stack that was renamed"],
  "refusal-forget-claimed": [
    ownership,
    "a stack gives an endpoint up that another one has, without unbinding or deleting it",
  ],
  "refusal-other-claim": [ownership, "an endpoint is claimed whichever way its network is given"],
  "refusal-lost-claim": [ownership, "a service adds a pattern to its endpoint, and mends a claim that was lost"],
  "refusal-leave-exclusive-out": [
    adoption,
    "says what takes messages of the endpoints besides, and binds no queue that goes with its connection",
  ],
  "refusal-one-error-queues": [
    "test/engine/errorQueues.test.ts",
    "are there once, as NServiceBus's installers declare them",
  ],
  "refusal-refresh-after-leaving": [
    ownership,
    "an endpoint moves from one network to another, and keeps its claim by up --refresh",
  ],
  "refusal-join-both": [
    passingOn,
    "is said of an endpoint whose network gets another shape while messages wait there, and they arrive if it joins both",
  ],
  "refusal-declare-lost": ["test/engine/gone.test.ts", "and declared again as its warning says"],
  "refusal-other-prefix": [
    refusals,
    "a quorum queue whose name within the broker another vhost's queue has, or is too long",
  ],
  "refusal-add-tag": [refusals, "a deployer without the tag policymaker; with it, all goes through"],
  "refusal-allow-fault": ["test/engine/badInput.test.ts", "warns of the broker's own faults until they are allowed"],
  "refusal-give-delays": [
    adoption,
    "a work queue and its retry queues that were made by hand, with what waits in them",
  ],
  "refusal-parent-alias": [passingOn, "follows a component that comes under another one, by an alias"],
  "refusal-rename-by-alias": [passingOn, "follows its component's new name along with an edit of its patterns"],
  "refusal-match-exactly": [enforceLive, "changes a live network, and back, killed in each step of the first"],
  "refusal-tell-apart": [enforceLive, "changes a live network, and back, killed in each step of the first"],
  "refusal-add-parking": [adoption, "comes under a stack with its endpoints; what waits arrives, once and not early"],
  "refusal-let-enforce-end": [enforceLive, "goes back from where a run was killed, or stopped and woken up"],
  "refusal-enforce-again": [enforceLive, "goes back from where a run was killed, or stopped and woken up"],
  "refusal-adopt-here": [ownership, "an endpoint is claimed whichever way its network is given"],
  "refusal-lift-limit": [deliveryLimit, otherPolicy],
  "refusal-take-limit-out": [deliveryLimit, otherPolicy],
  "refusal-give-management": [deliveryLimit, "a store that declares its queues without lifting their limit says so"],
  "refusal-moved": [
    "test/store/service.test.ts",
    "refuses another vhost's messages, until it is told that they have moved",
  ],
  "refusal-change-first": [enforced, changedLive],
  "refusal-refresh-stacks": [enforced, changedLive],
  "refusal-go-on": [
    "test/brokers/adoptAdvice.test.ts",
    "enforce goes through once its advice is followed, and when it is run again after what came in between",
  ],
  "refusal-allow-pair": [ownership, "endpoints of one program are told apart on a network out of another stack, too"],
  "refusal-leave-limit-out": [refusals, "a queue that asks for no delivery limit, and would have one"],
  "refusal-leave-transform": [
    "test/engine/transforms.test.ts",
    "are refused before anything is touched, wherever they stand, and an endpoint keeps its messages",
  ],
  "refusal-leave-network": [
    "test/engine/networks.test.ts",
    "let publishers move from one to another while what waits arrives, once, in a queue that stays",
  ],
  "refusal-production-retain": production,
  "refusal-production-quorum": production,
  "refusal-production-allow": production,
  "refusal-production-https": production,
  "refusal-production-ca": production,
  "refusal-production-user": production,
  "refusal-parking": [
    "test/brokers/faults.test.ts",
    "unroutable messages are parked, with their key, and stall nobody",
  ],
} as const;
