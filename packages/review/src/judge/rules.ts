/** How bad a finding is. */
export type Severity = "loss" | "care" | "note";

/** A kind of finding that a review can report. */
export interface Rule {
  severity: Severity;
  /** What happens, as a heading; `%` stands for the number, with the entities' name. */
  title: string;
  /** What it means. */
  consequence: string;
  /** Steps to take instead, none for a note; code in backticks; VHOST, ALIAS and TYPE stand for the real ones. */
  wayOut: Step[];
}

/** A step of a way out: one sentence, or one for parts of this project's components and one for other resources. */
export type Step = string | { ofComponent: string; ofResource: string };

const DRAIN =
  "Wait until nothing is in them: `rabbitmqctl list_queues -p VHOST name messages consumers`, or this review with `--management`.";
const BESIDE: Step = {
  ofComponent:
    "Declare the new one beside the old one: another name, prefix or shape among `networks` in the config, or in a component of its own. Move publishers to it, let the old one drain, and remove that one last.",
  ofResource:
    "Declare the new one beside the old one, under another name and another logical name. Move publishers to it, let the old one drain, and remove that one last.",
};
const RETAIN: Step = {
  ofComponent:
    'Or keep them on the broker, by an update of its own before this one: `pulumi config set rabbitmq-delay:removal retain && pulumi up` (in a program of yours, `removal: "retain"`).',
  ofResource:
    "Or keep them on the broker, by an update of its own before this one: `retainOnDelete: true` in the resource's options.",
};
const IMPORTED =
  "Write a queue's arguments as `arguments` if all of them are texts, and as `argumentsJson` otherwise: the engine refuses to import another writing.";
const LOOK = "Review with `--management`, or declare the exchange in the same program.";
const PARKED =
  "What the network parks meanwhile is in its parking queue: move it back by hand, or with a shovel that ends (`src-delete-after: queue-length`).";

/** Every rule of the review, in the order in which they are shown. */
export const rules = {
  "queue-deleted": {
    severity: "loss",
    title: "% would be deleted",
    consequence: "All messages that wait in a deleted queue are lost.",
    wayOut: [DRAIN, RETAIN],
  },
  "queue-replaced": {
    severity: "loss",
    title: "% would be deleted and declared anew",
    consequence: "A queue can't change its arguments: the old one goes with all messages that wait in it.",
    wayOut: [BESIDE],
  },
  "queue-type-left-out": {
    severity: "loss",
    title: "% would be deleted and declared anew, because the program leaves out its type",
    consequence:
      "RabbitMQ 4 gives a queue without a type the default type of its vhost, and says so. The provider takes that for a change, at this update and at each later one. All messages that wait in the old queue are lost.",
    wayOut: [
      'Write the type that the broker has into the program, as an argument of the queue: `"x-queue-type": "TYPE"`. Then nothing changes.',
    ],
  },
  "matching-changed": {
    severity: "loss",
    title: "% would be declared anew, to lead to another exchange",
    consequence:
      "Whether matching is enforced is decided by where level 0 leads, and a queue can't change its arguments: the old one would go with all messages that wait in it, or, if it is kept, the broker would refuse the new one.",
    wayOut: [
      "Change the live network first, which loses no message: `rabbitmq-delay enforce --management URL --network FILE` with the network's descriptor (`--undo` changes it back). Then run `pulumi refresh`: the next update declares nothing anew.",
    ],
  },
  "live-deleted": {
    severity: "loss",
    title: "% would be declared by another resource, and then deleted",
    consequence:
      "Both resources are the same thing on the broker. Creating it again changes nothing there, and the deletion of the old one at the end of " +
      "the update takes the live one along: a queue with its messages, an exchange with its bindings. No later preview shows that.",
    wayOut: [
      "If the resource was renamed or moved, tell the engine that it is the same: `aliases: [ALIAS]` in its options.",
      "If resources are named by their place in a list, name each by its content, and give it the alias of its former name.",
    ],
  },
  "twin-deleted": {
    severity: "loss",
    title: "% would be deleted under one of its two logical names",
    consequence:
      "Both resources are the same thing on the broker: the deletion of the one takes the live one along, a queue with its messages, an exchange " +
      "with its bindings, and the other resource then stands for something that is not there.",
    wayOut: [
      "Let the stack forget the one that leaves, which touches nothing on the broker: `pulumi state delete URN`; `pulumi stack --show-urns` names it. Resources that depend on it have to depend on the other one first, by an update of its own.",
    ],
  },
  "replaced-by-itself": {
    severity: "loss",
    title: "% would be declared again, and then deleted",
    consequence:
      "The new one is created first and is the same thing on the broker, so that nothing happens; then the old one is deleted by its name. The update " +
      "ends without it, and no later preview shows that.",
    wayOut: [
      "Leave out what replaces it: `--replace`, `replaceOnChanges`, or another way of writing the same arguments.",
      "Or let the engine delete the old one first, with `deleteBeforeReplace: true` in the resource's options: a queue or a vhost loses its messages, an exchange the bindings of others, and while a policy is away, others apply.",
    ],
  },
  "bindings-left-out": {
    severity: "loss",
    title: "% would go, with bindings of this program that the update does not declare anew",
    consequence:
      "A binding goes with its exchange or queue, and the engine leaves one as it is that names them by a text: what comes from then on finds " +
      "no way, and no later preview shows that.",
    wayOut: [
      "Name the exchange and the queue by their outputs in the binding (`exchange.name`), by an update of its own before this one, so that the engine declares it anew with them.",
      BESIDE,
    ],
  },
  "bindings-of-others-gone": {
    severity: "loss",
    title: "% would go, with bindings that this program does not declare",
    consequence:
      "A binding goes with its exchange or queue, for good, also where that is declared anew: what comes from then on finds no way to the queue.",
    wayOut: [
      "Declare the new one beside the old one first, and let the queues' services bind to it.",
      "Or stop the publishers, let what waits arrive, and let each service bind its queue again before they start.",
    ],
  },
  "vhost-deleted": {
    severity: "loss",
    title: "% would be deleted",
    consequence: "Everything in a vhost goes with it: all its queues, and all messages in them.",
    wayOut: [DRAIN],
  },
  "unroutable-lost": {
    severity: "loss",
    title: "% would leave messages without a way",
    consequence: "What still waits finds no binding when it is due, and is lost: nothing parks it.",
    wayOut: [
      "Keep the binding until what waits has arrived.",
      {
        ofComponent: "Declare the network with `parking: true`, so that such messages are kept.",
        ofResource:
          "Or give the exchange an alternate exchange to which a queue is bound, by a policy with `alternate-exchange`, so that such messages are kept.",
      },
    ],
  },
  "target-missing": {
    severity: "loss",
    title: "% would lead messages to an exchange that does not exist",
    consequence: "The broker drops what is led to a missing exchange: neither the plan nor the broker has it.",
    wayOut: ["Declare the exchange in the same program, or correct its name."],
  },
  "policy-drops": {
    severity: "loss",
    title: "% would let the broker drop messages",
    consequence:
      "A policy applies to live queues at once: what is older, or more, than it allows is dropped, as is what is delivered more often; a queue that expires goes with all in it, and dead letters go where it says.",
    wayOut: [
      "Leave `expires`, `message-ttl`, `max-length`, `max-length-bytes`, `overflow`, `delivery-limit` and `dead-letter-…` to queues that have nothing to lose, or narrow the pattern.",
    ],
  },
  "policy-protection-gone": {
    severity: "loss",
    title: "% would no longer keep messages from being dropped",
    consequence:
      "Where it applied, the broker drops messages from then on: those that no binding takes, those that are rejected, or, on RabbitMQ 4, those whose consumer failed 20 times.",
    wayOut: ["Keep the policy, or declare another one that says the same of the same names before it goes.", RETAIN],
  },
  "namespace-deleted": {
    severity: "loss",
    title: "% would be deleted with everything in it",
    consequence:
      "A namespace takes the nodes, their Secrets and the claims of their volumes along, and all messages on them; only a storage class with `reclaimPolicy: Retain` keeps the volumes.",
    wayOut: [
      "Let it stay, by an update of its own before this one: `retainOnDelete: true` in its options.",
      "Move the network first, see docs/kubernetes-operations.md, and delete the namespace when nothing waits any more.",
    ],
  },
  "cluster-deleted": {
    severity: "loss",
    title: "% would be deleted, with the messages on its volumes",
    consequence:
      "What the broker keeps its messages on goes with it, and so does every message that waits there, also in queues of other stacks.",
    wayOut: [
      "Move the network to another broker first, see docs/kubernetes-operations.md, and wait until nothing is left: `rabbitmqctl list_queues -p VHOST name messages`.",
      'Or keep it, by an update of its own before this one: `removal: "retain"` (in a program of yours, `retainOnDelete: true`).',
    ],
  },
  "cluster-secret-gone": {
    severity: "loss",
    title: "% would be deleted, without which the nodes do not start again",
    consequence:
      "Nodes that run go on; one that restarts finds neither its administrator nor the cookie by which the nodes know each other. When a majority has restarted, no message moves any more, and what was generated is gone for good.",
    wayOut: [
      "Take the Secrets out of Kubernetes first, see “Backup and disaster” in docs/kubernetes-operations.md, and give them to the program.",
      'Or keep them, by an update of its own before this one: `removal: "retain"`.',
    ],
  },
  "nodes-fewer": {
    severity: "loss",
    title: "% would have fewer nodes",
    consequence:
      "Queues lose the members on the nodes that go: those without a majority among the rest stand still, and a queue whose only member goes is lost.",
    wayOut: [
      "First take each node that goes out of the cluster, one after another, the highest ordinals: `rabbitmq-queues shrink`, `rabbitmqctl stop_app` in its pod, `rabbitmqctl forget_cluster_node`, see “Upgrades” in docs/kubernetes-operations.md.",
    ],
  },
  "delivered-twice": {
    severity: "care",
    title: "% would get messages of another one too",
    consequence: "A message that matches both bindings is delivered to both: what it asks for is done twice.",
    wayOut: [
      "Bind by exact matching and under another name, or give each message one endpoint: `rabbitmq-delay check` compares them.",
      "At a work queue's exchange, by which each retried message comes back: bind the other queue to an exchange in front of it.",
    ],
  },
  "way-shortened": {
    severity: "care",
    title: "% would take messages past their delay, or double them",
    consequence:
      "A delay is the way through all levels: a message that takes another one arrives early, late or twice.",
    wayOut: ["Bind endpoints to the delivery exchange alone, and leave the levels to the network."],
  },
  "declared-otherwise": {
    severity: "care",
    title: "% would be declared again, with other settings than it has",
    consequence:
      "Two resources are one entity on the broker, and it keeps the settings that it has: it refuses the new ones, and the update fails half-way.",
    wayOut: [
      "Where it is the same under another logical name, say so: `aliases: [ALIAS]`. Then the report tells what its new settings do.",
      BESIDE,
    ],
  },
  "limit-despite-argument": {
    severity: "care",
    title: "% would have a delivery limit, though the argument asks for none",
    consequence:
      "A message that comes back as often as the limit says is dropped, or goes to the queue's dead-letter exchange.",
    wayOut: [
      "Where a policy sets it, take `delivery-limit` out of the policy, or narrow its pattern.",
      "On RabbitMQ before 4.0, leave `x-delivery-limit` out: without it, there is no limit.",
    ],
  },
  "declared-twice": {
    severity: "care",
    title: "% would be declared by two resources",
    consequence:
      "Both resources are the same thing on the broker: whichever comes second is refused, or changes nothing. If one of the two leaves the program " +
      "later, its deletion takes the thing along for which the other one stands.",
    wayOut: ["Declare it once, and refer to that resource."],
  },
  "target-unknown": {
    severity: "care",
    title: "% would lead messages to an exchange that may not exist",
    consequence: "The broker drops what is led to a missing exchange, and nobody looked whether it is there.",
    wayOut: [LOOK],
  },
  "way-in-doubt": {
    severity: "care",
    title: "% may leave messages without a way",
    consequence: "Messages came to a queue before the update, and nobody can tell whether they still do after it.",
    wayOut: [LOOK, "Apply it while nothing is due."],
  },
  "way-early": {
    severity: "care",
    title: "% may take messages before they have a way on",
    consequence:
      "The engine creates resources that do not depend on each other in any order. What comes between two of these steps is lost.",
    wayOut: ["Let this binding come last: name the bindings behind it in `dependsOn` of its options."],
  },
  "taken-over": {
    severity: "care",
    title: "% that the broker has already would come under this stack",
    consequence:
      "Creating it changes nothing. From then on this stack changes it, and deletes it with what waits in it once it leaves the program.",
    wayOut: [
      "If it belongs to somebody else, choose another name. If it is yours, import it: `pulumi import`, or `import` in its options.",
      IMPORTED,
    ],
  },
  "import-refused": {
    severity: "care",
    title: "% would be imported with other settings than the broker has, which is refused",
    consequence:
      "The engine replaces no resource whose option `import` names what the stack has already: the update fails half-way, and no message is lost. " +
      "The engine advises to remove the option: then the resource would be deleted and declared anew.",
    wayOut: [
      "Keep `import` in its options until an update succeeds, and write the settings as the broker has them.",
      IMPORTED,
    ],
  },
  "exchange-refused": {
    severity: "care",
    title: "% would be changed in place, which is refused",
    consequence:
      "An exchange can't change its settings: the provider or the broker refuses the change, and the update fails half-way.",
    wayOut: [
      'Let the engine delete it first: `replaceOnChanges: ["settings"]` and `deleteBeforeReplace: true` in the resource\'s options.',
      BESIDE,
    ],
  },
  "queue-kept-and-replaced": {
    severity: "care",
    title: "% would change despite retention",
    consequence:
      "The program wants other arguments, and `removal: retain` keeps the old queue under its name: the broker refuses the new one, and the update fails half-way.",
    wayOut: [BESIDE],
  },
  "no-longer-kept": {
    severity: "care",
    title: "% would no longer be kept when they leave the program",
    consequence:
      "Nothing is deleted now. From then on, an update deletes each of them that leaves the program or is replaced, with the messages in it.",
    wayOut: [
      { ofComponent: 'Keep `removal: "retain"`.', ofResource: "Keep `retainOnDelete: true`." },
      "Or review each later update for what it deletes.",
    ],
  },
  "exchange-gone": {
    severity: "care",
    title: "% would be gone, for a moment or for good",
    consequence:
      "Who publishes to a missing exchange gets its channel closed; what dead-letters to it meanwhile is held back or lost. What others bound " +
      "to it, or it to, is unbound for good, also where it is declared anew.",
    wayOut: [
      "Declare the new one beside the old one first, and let consumers bind their queues to it.",
      "Or stop the publishers while the update runs, and let each consumer bind its queue again before they start.",
    ],
  },
  "endpoint-unbound": {
    severity: "care",
    title: "% would no longer get delayed messages",
    consequence: "What is still on its way there has no binding when it is due.",
    wayOut: ["Let the endpoint's messages arrive before it leaves, or bind it again.", PARKED],
  },
  "binding-gone": {
    severity: "care",
    title: "% would be gone, for a moment or for good",
    consequence: "Messages that come in between find no way.",
    wayOut: ["Apply it while nothing is due.", PARKED],
  },
  "binding-kept": {
    severity: "care",
    title: "% would stay on the broker, and leave the program",
    consequence: "What came by it still comes: nobody unbinds it, and no stack manages it from then on.",
    wayOut: ["Unbind it by hand once the update is made: `rabbitmqadmin delete binding`."],
  },
  "network-changed": {
    severity: "care",
    title: "% would change shape",
    consequence:
      "Publishers that still have the old descriptor and endpoints of other stacks stay with the old network.",
    wayOut: ["Give publishers the new descriptor right after the update: `pulumi stack output delayNetwork`.", BESIDE],
  },
  "policy-changed": {
    severity: "care",
    title: "% would come, change or go",
    consequence:
      "It applies to live queues or exchanges at once, and only one policy does to each: a new one takes away what another said, e.g. a network's parking.",
    wayOut: [
      "Give the policy that then applies what the queues and exchanges need of the one before: `rabbitmqctl list_policies -p VHOST` shows them all.",
    ],
  },
  "access-changed": {
    severity: "care",
    title: "% would come, change or go",
    consequence: "Who connects with it may be refused from then on.",
    wayOut: ["Give services their new credentials first, and take the old ones away last."],
  },
  "broker-changed": {
    severity: "care",
    title: "% would point to another broker",
    consequence:
      "The engine believes that the entities are there already: it neither declares them on the new broker nor deletes them on the old one.",
    wayOut: ["Use a stack of its own for each broker: `pulumi stack init NAME`."],
  },
  "provider-gone": {
    severity: "care",
    title: "% would leave the program",
    consequence:
      "What it declared can't be changed or deleted by this stack any more, unless another provider does it.",
    wayOut: [
      "Keep it in the program until each resource that it declared has left, or has another provider, by an update of its own: `pulumi stack export` names the provider of each.",
    ],
  },
  "policy-unknown": {
    severity: "care",
    title: "% would come, change or go, and can't be read",
    consequence: "The plan does not say what it applies to and what it sets, so it may drop messages.",
    wayOut: ["Make its settings known when the program runs, and no secrets."],
  },
  "nodes-stop": {
    severity: "care",
    title: "% would stop, and its volumes would stay",
    consequence:
      "The broker is gone until the same nodes are made again on their volumes: nothing is published or delivered meanwhile, and what falls due is late.",
    wayOut: [
      "Stop the publishers, or move the network to another broker first, see docs/kubernetes-operations.md.",
      "Made again by the same name and size, the nodes find their volumes with all messages.",
    ],
  },
  "nodes-restart": {
    severity: "care",
    title: "% would change",
    consequence:
      "Nodes restart one after another, or are made anew: connections break, and some messages arrive later or a second time.",
    wayOut: [
      "Apply it while little is due, and read “Upgrades” in docs/kubernetes-operations.md before another version.",
    ],
  },
  "part-changed": {
    severity: "care",
    title: "% would change or go",
    consequence:
      "It holds no messages, but a cluster or a store does not work without it: connections may be refused while it is gone, and what falls due is late.",
    wayOut: ["Apply it while little is due."],
  },
  "resource-kept-and-replaced": {
    severity: "care",
    title: "% would change despite retention",
    consequence:
      "The program wants another one, and retention keeps the old one: two of the same name can't be, so the update fails half-way; under another name, the new one is empty.",
    wayOut: ["Declare the new one beside the old one: another name in a component of its own."],
  },
  "other-changed": {
    severity: "care",
    title: "% would change or go",
    consequence: "Nothing is known of what depends on it. Where it holds a broker or its messages, they go with it.",
    wayOut: ["Look at it with `pulumi preview --diff`."],
  },
  "intake-kept": {
    severity: "care",
    title: "% would stay on the broker, and leave the program",
    consequence:
      "What is in the queue, and what is still published to its exchange, waits until a process takes it; one that is started with the new " +
      "descriptor does not, or refuses what came by an exchange that it does not know.",
    wayOut: [
      "Move publishers first. Let the process with the old descriptor run until its queues, and a store's database or a gateway's network, are " +
        "empty; then delete them by hand.",
    ],
  },
  "missing-on-broker": {
    severity: "care",
    title: "% of this stack that the broker does not have as the state says",
    consequence:
      "The engine takes each for what the state says, and does not make it anew: messages for it find no way, or are delayed or kept otherwise.",
    wayOut: [
      "`pulumi up --refresh` declares what is missing. It replaces what somebody declared otherwise, with the messages in it: drain that first.",
    ],
  },
  "not-compared": {
    severity: "care",
    title: "Not all of the state was compared with the broker",
    consequence: "What is missing or bound there, or goes with a deletion, is not in this review.",
    wayOut: [
      "Make the preview with `--show-sames`, name entities and vhosts by texts that are no secrets, and review a stack of several brokers once for each.",
    ],
  },
  "program-warned": {
    severity: "care",
    title: "The program warned",
    consequence:
      "It compared the plan with the broker, and an update may be refused, or do something else than the plan says.",
    wayOut: ["Do what the message says, and run the preview again."],
  },
  "other-warned": {
    severity: "note",
    title: "The engine, an SDK or a provider warned",
    consequence: "It says nothing about what becomes of messages.",
    wayOut: [],
  },
  "broker-fault": {
    severity: "note",
    title: "The broker has a fault of its own",
    consequence: "It can affect networks, whatever this update does.",
    wayOut: [],
  },
  "preview-failed": {
    severity: "care",
    title: "The preview did not get to its end",
    consequence: "What comes after the failure is not in this review: nobody knows what it would do to messages.",
    wayOut: ["Mend what the message says, and run the preview again."],
  },
  "broker-not-asked": {
    severity: "care",
    title: "The broker did not answer as it must",
    consequence:
      "How many messages are in question is not known: every queue that would be deleted counts as one that holds messages.",
    wayOut: [
      "Give the management API of the broker that this stack declares on, and a user who may look at its vhost.",
    ],
  },
  "broker-elsewhere": {
    severity: "care",
    title: "The broker that was asked has another address than the plan's",
    consequence:
      "Where it is another broker, its counts say nothing of the queues in question: they may be full where the plan deletes them.",
    wayOut: [
      "Give the management API of the broker that this stack declares on, by the address that its provider has.",
    ],
  },
  "bound-already": {
    severity: "note",
    title: "% would be declared where the broker has it already",
    consequence: "The new binding is on the broker, so that no message is without a way when the old one goes.",
    wayOut: [],
  },
  "no-consumer": {
    severity: "note",
    title: "% without a consumer",
    consequence: "Messages arrive there, and nobody takes them.",
    wayOut: [],
  },
  "foreign-binding": {
    severity: "note",
    title: "% bound on the broker, but in no program",
    consequence:
      "Somebody bound it by hand, or a stack forgot it: its queue gets messages that this program doesn't know of.",
    wayOut: [],
  },
  "queue-at-most-once": {
    severity: "note",
    title: "% that would pass messages on at most once",
    consequence: "A crash of the broker in the moment of the hand-over loses a message.",
    wayOut: [],
  },
  "queue-leased": {
    severity: "note",
    title: "% with a lease",
    consequence: "The broker deletes them with what waits in them when nobody declares them again in time.",
    wayOut: [],
  },
  "resource-kept": {
    severity: "note",
    title: "% would stay, and leave the program",
    consequence: "Nothing is lost: it goes on as before. From then on, no stack manages it.",
    wayOut: [],
  },
  "queue-kept": {
    severity: "note",
    title: "% would stay on the broker, and leave the program",
    consequence: "Nothing is lost: what waits there goes on as before. From then on, no stack manages it.",
    wayOut: [],
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

/** Whether a rule is about something that is gone after the update, although the state then has it. */
export function takesLiveOne(rule: RuleName): boolean {
  return rule === "live-deleted" || rule === "twin-deleted" || rule === "replaced-by-itself";
}
