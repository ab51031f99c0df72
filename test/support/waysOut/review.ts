/** Excerpts of the ways out that a review prints, by the file that holds the text and by an id. */
export const texts = {
  "packages/review/src/judge/policyFindings.ts": {
    "review-meanwhile": "first declare the policy that is to apply, by an update of its own",
  },
  "packages/review/src/broker/stillBound.ts": {
    "review-still-bound": "which no program declares, and gets what comes there; unbind it by hand",
  },
  "packages/review/src/broker/notCompared.ts": {
    "review-make-with-sames": "the preview does not list unchanged resources; make it with --show-sames",
  },
  "packages/review/src/judge/rules.ts": {
    "review-drain": "Wait until nothing is in them",
    "review-beside-component": "another name, prefix or shape among `networks` in the config",
    "review-beside-resource": "under another name and another logical name. Move publishers to it",
    "review-retain-component": "`pulumi config set rabbitmq-delay:removal retain && pulumi up`",
    "review-retain-resource":
      "by an update of its own before this one: `retainOnDelete: true` in the resource's options",
    "review-write-type": 'as an argument of the queue: `"x-queue-type": "',
    "review-enforce": "Change the live network first, which loses no message",
    "review-alias": "tell the engine that it is the same: `aliases: [",
    "review-name-by-content": "name each by its content, and give it the alias of its former name",
    "review-forget-twin": "Let the stack forget the one that leaves",
    "review-take-limit-out": "take `delivery-limit` out of the policy, or narrow its pattern",
    "review-leave-limit-out": "leave `x-delivery-limit` out: without it, there is no limit",
    "review-declare-once": "Declare it once, and refer to that resource",
    "review-leave-replacing-out": "Leave out what replaces it",
    "review-delete-first": "Or let the engine delete the old one first, with `deleteBeforeReplace: true`",
    "review-name-by-output": "Name the exchange and the queue by their outputs in the binding",
    "review-services-bind-beside": "let the queues' services bind to it",
    "review-services-bind-again": "let what waits arrive, and let each service bind its queue again",
    "review-keep-binding": "Keep the binding until what waits has arrived",
    "review-parking": "Declare the network with `parking: true`",
    "review-depend": "Let this binding come last: name the bindings behind it in `dependsOn` of its options.",
    "review-alternate": "Or give the exchange an alternate exchange to which a queue is bound",
    "review-declare-target": "Declare the exchange in the same program, or correct its name",
    "review-narrow-policy": "to queues that have nothing to lose, or narrow the pattern",
    "review-same-policy": "declare another one that says the same of the same names before it goes",
    "review-retain-namespace": "Let it stay, by an update of its own before this one",
    "review-move-then-delete-namespace": "and delete the namespace when nothing waits any more",
    "review-move-cluster":
      "Move the network to another broker first, see docs/kubernetes-operations.md, and wait until nothing is left",
    "review-retain-cluster":
      'Or keep it, by an update of its own before this one: `removal: "retain"` (in a program of yours',
    "review-take-secrets-out": "Take the Secrets out of Kubernetes first",
    "review-retain-secrets": 'Or keep them, by an update of its own before this one: `removal: "retain"`',
    "review-forget-nodes": "First take each node that goes out of the cluster, one after another, the highest ordinals",
    "review-exact": "Bind by exact matching and under another name, or give each message one endpoint",
    "review-bind-in-front": "bind the other queue to an exchange in front of it",
    "review-bind-delivery": "Bind endpoints to the delivery exchange alone",
    "review-same-entity": "Where it is the same under another logical name, say so",
    "review-ask-broker": "Review with `--management`, or declare the exchange in the same program",
    "review-import": "If it is yours, import it: `pulumi import`, or `import` in its options",
    "review-import-settings":
      "Keep `import` in its options until an update succeeds, and write the settings as the broker has them.",
    "review-import-writing":
      "Write a queue's arguments as `arguments` if all of them are texts, and as `argumentsJson` otherwise",
    "review-other-name": "If it belongs to somebody else, choose another name",
    "review-delete-exchange-first": 'Let the engine delete it first: `replaceOnChanges: ["settings"]`',
    "review-keep-removal": 'Keep `removal: "retain"`',
    "review-keep-retain-on-delete": "Keep `retainOnDelete: true`",
    "review-later-updates": "Or review each later update for what it deletes",
    "review-consumers-bind-beside": "let consumers bind their queues to it",
    "review-consumers-bind-again": "and let each consumer bind its queue again",
    "review-let-arrive": "Let the endpoint's messages arrive before it leaves, or bind it again",
    "review-unpark":
      "What the network parks meanwhile is in its parking queue: move it back by hand, or with a shovel that ends (`src-delete-after: queue-length`)",
    "review-nothing-due": "Apply it while nothing is due",
    "review-unbind": "Unbind it by hand once the update is made: `rabbitmqadmin delete binding`",
    "review-new-descriptor": "Give publishers the new descriptor right after the update",
    "review-carry-over": "Give the policy that then applies what the queues and exchanges need of the one before",
    "review-credentials-first": "Give services their new credentials first",
    "review-stack-per-broker": "Use a stack of its own for each broker: `pulumi stack init NAME`",
    "review-keep-provider":
      "Keep it in the program until each resource that it declared has left, or has another provider",
    "review-known-policy": "Make its settings known when the program runs, and no secrets",
    "review-stop-publishers": "Stop the publishers, or move the network to another broker first",
    "review-same-volumes": "Made again by the same name and size, the nodes find their volumes with all messages",
    "review-little-due-upgrade": "Apply it while little is due, and read “Upgrades”",
    "review-little-due": "Apply it while little is due.",
    "review-another-component": "Declare the new one beside the old one: another name in a component of its own",
    "review-preview-diff": "Look at it with `pulumi preview --diff`",
    "review-empty-intake": "Let the process with the old descriptor run until its queues",
    "review-up-refresh": "`pulumi up --refresh` declares what is missing",
    "review-show-sames": "Make the preview with `--show-sames`",
    "review-do-as-warned": "Do what the message says, and run the preview again",
    "review-mend-preview": "Mend what the message says, and run the preview again",
    "review-own-broker": "of the broker that this stack declares on, and a user who may look at its vhost",
    "review-own-address": "of the broker that this stack declares on, by the address that its provider has",
  },
} as const;

/** Ways out that no test follows, with the reason. */
export const undone = {
  "review-little-due-upgrade": "a choice of time; test/kubernetes/faults.test.ts restarts nodes while much is due",
  "review-little-due": "a choice of time, by which fewer messages are late",
};

const moving = [
  "test/brokers/moving.test.ts",
  "a shovel for each level queue loses nothing, and makes nothing early",
] as const;

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy = {
  "review-unpark": ["test/brokers/moving.test.ts", "a shovel to the exchange of the endpoints ends"],
  "review-let-arrive": ["test/brokers/moving.test.ts", "a shovel to the exchange of the endpoints ends"],
  "review-beside-component": [
    "test/engine/networks.test.ts",
    "let publishers move from one to another while what waits arrives, once, in a queue that stays",
  ],
  "review-retain-component": [
    "test/engine/errorQueues.test.ts",
    "take over an endpoint's error queue with what is in it",
  ],
  "review-enforce": [
    "test/engine/enforced.test.ts",
    "is refused until the live network is changed and read into the state; then nothing is declared anew",
  ],
  "review-move-cluster": moving,
  "review-move-then-delete-namespace": moving,
  "review-stop-publishers": moving,
  "review-new-descriptor": [
    "test/engine/networks.test.ts",
    "let publishers move from one to another while what waits arrives, once, in a queue that stays",
  ],
  "review-credentials-first": [
    "test/engine/access.test.ts",
    "may do what the service does, and nothing else; its password changes without a gap",
  ],
  "review-same-volumes": [
    "test/kubernetes/manifests.test.ts",
    "statefulset: volumes outlive the set, and are those of the next one",
  ],
  "review-forget-nodes": [
    "test/kubernetes/faults.test.ts",
    "become one, as docs/kubernetes-operations.md says, while messages wait",
  ],
  "review-make-with-sames": [
    "test/engine/reviewAdvice.test.ts",
    "lets it compare all of the state with the broker, and believe its counts",
  ],
  "review-do-as-warned": [
    "test/engine/review.test.ts",
    "knows what of the stack is gone, by the program's warning and from the broker",
  ],
  "review-mend-preview": [
    "test/engine/review.test.ts",
    "knows a preview that failed, and, once what it says is mended",
  ],
  "review-own-broker": ["test/engine/review.test.ts", "believes no broker that has nothing of what the state has"],
} as const;
