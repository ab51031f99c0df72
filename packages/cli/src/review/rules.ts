/** How bad a finding is. */
export type Severity = "loss" | "care" | "note";

/** What a review knows to say of a change. */
export interface Rule {
  severity: Severity;
  /** What happens, as a heading; `%` stands for how many, with the entities' name. */
  title: string;
  /** What it means. */
  consequence: string;
  /** What to do instead, a step each; code in backticks; VHOST and OLD_NAME stand for the real ones. */
  wayOut: string[];
}

const DRAIN =
  "Wait until nothing is in them: `rabbitmqctl list_queues -p VHOST name messages consumers`, or this review with `--broker`.";
const BESIDE =
  "Declare the new one beside the old one: another name, prefix or shape in a component of its own. Move publishers to it, let the old one drain, and remove that one last.";
const RETAIN =
  'Or keep them on the broker, by an update of its own before this one: `pulumi config set rabbitmq-delay:removal retain && pulumi up` (in a program of yours, `removal: "retain"`).';
const PARKED = "What arrives meanwhile is in the network's parking queue: move it back with a shovel, or by hand.";

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
    wayOut: [BESIDE, RETAIN],
  },
  "queue-live-deleted": {
    severity: "loss",
    title: "% would be declared under another logical name, and then deleted",
    consequence:
      "Both resources are one queue on the broker: the deletion of the old one takes the live queue along, with its messages.",
    wayOut: [
      'Tell the engine that it is the same: `aliases: [{ name: "OLD_NAME" }]` in the options of the renamed resource.',
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
      "Declare the network with `parking: true`, so that such messages are kept.",
    ],
  },
  "policy-drops": {
    severity: "loss",
    title: "% would let the broker drop messages",
    consequence:
      "A policy applies to live queues at once: what is older, or more, than it allows is dropped, and a queue that expires goes with all in it.",
    wayOut: [
      "Leave `expires`, `message-ttl`, `max-length` and `max-length-bytes` to queues that have nothing to lose, or narrow the pattern.",
    ],
  },
  "delivered-twice": {
    severity: "care",
    title: "% would get messages of another one too",
    consequence: "A message that matches both bindings is delivered to both: what it asks for is done twice.",
    wayOut: [
      "Bind by exact matching and under another name, or give each message one endpoint: `rabbitmq-delay check` compares them.",
    ],
  },
  "exchange-refused": {
    severity: "care",
    title: "% would be changed in place, which the provider refuses",
    consequence:
      "An exchange can't change its settings, and the provider plans an update all the same: the update fails half-way.",
    wayOut: ['Make it a replacement: `replaceOnChanges: ["settings"]` in the resource\'s options.', BESIDE],
  },
  "queue-kept-and-replaced": {
    severity: "care",
    title: "% would change, but have to stay",
    consequence:
      "The program wants other arguments, and `removal: retain` keeps the old queue under its name: the broker refuses the new one, and the update fails half-way.",
    wayOut: [BESIDE],
  },
  "exchange-gone": {
    severity: "care",
    title: "% would be gone, for a moment or for good",
    consequence:
      "Who publishes to a missing exchange gets its channel closed; what dead-letters to it meanwhile is held back or lost.",
    wayOut: ["Stop the publishers while the update runs, or declare the new one beside the old one first."],
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
  "binding-live-deleted": {
    severity: "care",
    title: "% would be declared under another logical name, and then deleted",
    consequence: "Both resources are one binding on the broker: the deletion of the old one takes the live one along.",
    wayOut: [
      'Tell the engine that it is the same: `aliases: [{ name: "OLD_NAME" }]` in the options of the renamed resource.',
    ],
  },
  "network-changed": {
    severity: "care",
    title: "% would change shape",
    consequence:
      "Publishers that still have the old descriptor and endpoints of other stacks stay with the old network.",
    wayOut: [
      "Give publishers the new descriptor right after the update: `pulumi stack output delayNetwork --json`.",
      BESIDE,
    ],
  },
  "policy-changed": {
    severity: "care",
    title: "% would come, change or go",
    consequence:
      "It applies to live queues or exchanges at once, and only one policy does to each: a new one takes away what another said, e.g. a network's parking.",
    wayOut: ["Compare what it says before and after with what the queues need."],
  },
  "access-changed": {
    severity: "care",
    title: "% would change or go",
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
  "other-changed": {
    severity: "care",
    title: "% would change or go",
    consequence: "It is none of this project's components, so nothing is known of what depends on it.",
    wayOut: ["Look at it with `pulumi preview --diff`."],
  },
  "preview-failed": {
    severity: "care",
    title: "The preview did not get to its end",
    consequence: "What comes after the failure is not in this review.",
    wayOut: ["Mend what the message says, and run the preview again."],
  },
  "no-consumer": {
    severity: "note",
    title: "% without a consumer",
    consequence: "Messages arrive there, and nobody takes them.",
    wayOut: ["Start the service, or remove the endpoint."],
  },
  "foreign-binding": {
    severity: "note",
    title: "% bound on the broker, but in no program",
    consequence:
      "Somebody bound it by hand, or a stack forgot it: its queue gets messages that this program doesn't know of.",
    wayOut: ["Declare it as an endpoint, or unbind it: `rabbitmqadmin delete binding`."],
  },
  "queue-at-most-once": {
    severity: "note",
    title: "% that would pass messages on at most once",
    consequence: "A crash of the broker in the moment of the hand-over loses a message.",
    wayOut: ["Take `queueType: quorum`, where no vendor's client declares the same queue as classic."],
  },
  "queue-leased": {
    severity: "note",
    title: "% with a lease",
    consequence: "The broker deletes them with what waits in them when nobody declares them again in time.",
    wayOut: ["Let only publishers use them that declare the queue before each message, as `holdFor` does."],
  },
  "queue-kept": {
    severity: "note",
    title: "% would stay on the broker, and leave the program",
    consequence: "Nothing is lost: what waits there goes on as before. From then on, no stack manages it.",
    wayOut: [DRAIN],
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;
