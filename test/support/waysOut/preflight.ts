/** Excerpts of the ways out that an update, adopt and enforce print, by the file that holds the text and by an id. */
export const texts = {
  "packages/broker/src/preflight/matchingChange.ts": {
    "preflight-readable-state": "nothing was made. See that the stack's backend can be read",
    "preflight-enforce": "Run rabbitmq-delay enforce",
    "preflight-enforce-undo": "Or run rabbitmq-delay enforce --undo",
    "preflight-refresh": "Run pulumi refresh first",
    "preflight-descriptor": "take the one that the network's stack exports now",
  },
  "packages/broker/src/preflight/brokerVersion.ts": {
    "preflight-version": ", or leave it out",
    "preflight-overloaded": "it is overloaded, or a firewall or proxy between swallows the request",
  },
  "packages/broker/src/preflight/checkBroker.ts": {
    "preflight-single-node": "add single-node to allow where that is meant",
    "preflight-use-vhost": "Set createVhost: false to use it",
    "preflight-import-vhost": "bring it up with createVhost: false, and then run pulumi import --provider",
    "preflight-add-vhost": "create it with rabbitmqctl add_vhost and let the user in with rabbitmqctl set_permissions",
    "preflight-declare-exchange": "; declare it first",
    "preflight-declare-otherwise": " leads; declare it first",
    "preflight-create-queue": "; declare it first, or set createQueue: true",
  },
  "packages/broker/src/preflight/checkDifferences.ts": {
    "preflight-differs-others":
      "Drain and delete it, or choose another name or prefix here; a network may take another shape instead",
  },
  "packages/broker/src/preflight/checkLimits.ts": {
    "preflight-raise-limit": "Raise the limit by rabbitmqctl set_vhost_limits -p ",
  },
  "packages/broker/src/preflight/claims.ts": {
    "preflight-former-owner": " and set adopt: true for an update",
  },
  "packages/broker/src/preflight/delayedExchanges.ts": {
    "preflight-delivery":
      "Keep declareDelivery: true, or let the stack forget the delivery exchange and what depends on it first",
  },
  "packages/topology/src/exchange/delayedExchange.ts": {
    "preflight-bind-delivery":
      "gets messages before their time is over, and without arguments all of them; bind it to ",
  },
  "packages/broker/src/preflight/otherBroker.ts": {
    "preflight-other-broker": "Take a stack of its own for each broker (pulumi stack init)",
    "preflight-forget-vhost": "let the stack forget the vhost, which touches nothing on the broker, by ",
  },
  "packages/broker/src/preflight/inProgram.ts": {
    "preflight-user-twice": "Give one of them another name",
  },
  "packages/broker/src/preflight/queueTypes.ts": {
    "preflight-default-type": "default queue type to classic, or take another vhost, preset or queueType",
    "preflight-untyped": "set that to classic, or give queueType: quorum",
  },
  "packages/broker/src/preflight/rights.ts": {
    "preflight-set-permissions": "Widen its permissions by rabbitmqctl set_permissions",
  },
  "packages/broker/src/preflight/takenOver.ts": {
    "preflight-retain-both": "; keep removal: retain in both",
    "preflight-forget": "Let the stack forget the other one first, which touches nothing on the broker, by ",
  },
  "packages/broker/src/preflight/users.ts": {
    "preflight-user-deployer": "password, and lose its tags and rights. Choose another name",
    "preflight-user-tag": "Choose another name, or take the tag away first",
    "preflight-user-there": "Choose another name, or set adopt: true where it is this stack's own",
    "preflight-user-elsewhere": "it would get another password, and be deleted with this stack. Choose another name",
  },
  "packages/broker/src/preflight/plannedQueues.ts": {
    "preflight-shorten": "Shorten one of them",
  },
  "packages/broker/src/refusingQueues.ts": {
    "preflight-refusing":
      "Take the limit off, or let the queue drop or dead-letter its oldest messages (overflow: drop-head)",
  },
  "packages/topology/src/policies/judgePolicies.ts": {
    "preflight-policy-edited": "put it back, by pulumi up --refresh or on the broker",
    "preflight-policy-back": "give it back its pattern",
    "preflight-policy-rival": "lower its priority, narrow its pattern, or ",
    "preflight-policy-parking": "or, for a network, set parking: false",
    "preflight-policy-arguments": "set settings: arguments",
    "preflight-policy-narrow": "narrow its pattern, or ",
    "preflight-policy-lower": "lower its priority",
    "preflight-policy-outrank": "give these queues a policy of a higher priority without it",
    "preflight-policy-argument": "declare the queue with the argument x-dead-letter-exchange",
    "preflight-policy-forgo": "narrow its pattern, if they may be dropped",
    "preflight-policy-operator": "narrow its pattern, or take the key out of it, which only an administrator can",
    "preflight-policy-first": "Give it a priority above",
    "preflight-policy-enforce": "leave it alone, and run rabbitmq-delay enforce again, or with --undo",
    "preflight-policy-same": "give it the same: ",
  },
  "packages/topology/src/differences.ts": {
    "preflight-set-type": "; set that to ",
  },
  "packages/topology/src/adoption.ts": {
    "preflight-adopt-retired": "endpoint out, or bind the queue by hand where that is meant",
    "preflight-adopt-missing-network": "let whoever made the rest declare it",
    "preflight-adopt-leave-out": ", or leave adopt out for the one update that shall make what is missing",
    "preflight-adopt-patterns": ", or give patterns as the broker has them",
    "preflight-adopt-option": " as the broker has it",
    "preflight-adopt-network": "drain it and delete it, and let whoever made it declare it anew",
    "preflight-adopt-endpoint":
      "leave createQueue and client out, and the stack only binds it; or drain it and delete it",
    "preflight-adopt-retry": "drain it and delete it, or plan it otherwise",
  },
  "packages/operate/src/adopt/destinations.ts": {
    "adopt-claimed": "if that one is no more, delete exchange ",
    "adopt-run-again": "went away while the vhost was read; run this again",
  },
  "packages/operate/src/adopt/foundEndpoints.ts": {
    "adopt-unbind-other": "and an endpoint is one of them; unbind the other",
    "adopt-unbind-wide": "and it stays until somebody unbinds it",
    "adopt-unbind-suffix": "which takes messages for other destinations, too; the config does not have that; unbind it",
  },
  "packages/operate/src/adopt/adoptedConfig.ts": {
    "adopt-bind-alike": "bind it alike in both networks first, or leave that one as it is",
  },
  "packages/operate/src/adopt/foundNetworks.ts": {
    "adopt-join-elsewhere":
      "leave this config, and declare endpoints in that stack, or in a service's program with its output delayNetwork",
    "adopt-delete-left": "if nothing uses it any more, delete what is left of it",
  },
  "packages/operate/src/adopt/foundRetries.ts": {
    "adopt-more-intervals": "declare them as RetryIntervalQueues in a program of your own",
  },
  "packages/operate/src/enforce/endpointBindings.ts": {
    "enforce-exclusive": "close that, and run this again",
    "enforce-wide": "unbind it, or bind ",
  },
  "packages/operate/src/enforce/planSteps.ts": {
    "enforce-unbind": "skip or repeat a part of their delay; unbind it first",
    "enforce-lower": "or a narrower pattern",
    "enforce-widen": "widen its pattern to both",
    "enforce-run-at-once": ", and run this again at once",
    "enforce-at-once": "THIS CHANGE IS UNDER WAY, AND MESSAGES HAVE NO WAY UNTIL THEN: ",
  },
  "packages/operate/src/enforce/requests.ts": {
    "enforce-tag": "the tag policymaker",
    "enforce-bind": "the rights to read ",
    "enforce-configure": ", or to write or read where it leads",
    "enforce-login": "the tag policymaker, or its name or password is wrong",
  },
  "packages/operate/src/enforce/drainQueue.ts": {
    "enforce-installers": "or by an endpoint that runs NServiceBus's installers: turn those off, and run this again",
    "enforce-statistics": "switch them on, and run this again",
  },
  "packages/operate/src/enforce/until.ts": {
    "enforce-timeout": "see what keeps it, and run this again",
  },
  "packages/operate/src/enforce/stuckMessages.ts": {
    "enforce-let-out": "declare a fanout exchange with a queue bound to it, and make it the alternate exchange of ",
  },
  "packages/operate/src/enforce/enforceMatching.ts": {
    "enforce-deleted": "meanwhile; run this again",
    "enforce-held-up": "this run was held up; run it again",
    "enforce-operator": "change its pattern, and run this again",
  },
  "components/look.ts": {
    "preflight-adopt-unseen":
      "see what is there by rabbitmq-delay adopt, and leave adopt out: an equal declaration changes nothing",
  },
  "components/oneUrn.ts": {
    "preflight-state-rename": "or give it its new name in the state first: pulumi state rename",
    "preflight-declare-once": "Declare it once, e.g. give each network of an endpoint once",
    "preflight-stay": "Leave it where it was in the program",
  },
} as const;

/** Ways out that no test follows, with the reason. */
export const undone = {};

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy = {
  "enforce-run-at-once": [
    "test/brokers/adoptAdvice.test.ts",
    "enforce goes through once its advice is followed, and when it is run again after what came in between",
  ],
  "preflight-policy-first": ["test/engine/errorQueues.test.ts", "unless that policy goes first and lifts the limit"],
  "preflight-single-node": [
    "test/engine/production.test.ts",
    "refuses what no production broker should have, unless its config says so in those words",
  ],
} as const;
