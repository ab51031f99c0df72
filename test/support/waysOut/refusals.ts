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
  "components/oneUrn.ts": {
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
  "refusal-parking": [
    "test/brokers/faults.test.ts",
    "unroutable messages are parked, with their key, and stall nobody",
  ],
} as const;
