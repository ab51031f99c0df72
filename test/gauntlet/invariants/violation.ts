/** The kinds of broken promises, by name. */
export const invariants = {
  lost: "what the broker confirmed arrives at least once",
  elsewhere: "it arrives at exactly its endpoint, parking or error queue, and nowhere else",
  "returned-but-arrived": "what was returned to its publisher was taken by no queue",
  early: "nothing is received before it is due",
  "copy-without-fault": "a second copy comes only where a fault explains it",
  "copy-under-another-id": "a second copy has the first one's message id",
  "id-changed": "a message arrives under the id that it was published with",
  "cancelled-but-arrived": "what a cancel counted does not arrive",
  "left-in-queue": "when all is through, no queue holds a message",
  "purged-too-many": "a purge takes no more than the broker said",
  secret: "no secret stands in an output or a log",
  "exit-code": "a mistake with the command ends with a code that says so",
  uncaught: "no call leaves a failure that its caller can't catch, which would end a service",
  "not-started": "a consumer starts with what was declared for it",
  "left-behind": "no process, connection, file or mount stays at the end",
} as const;
/** See {@link invariants}. */
export type Invariant = keyof typeof invariants;

/** A promise that was not kept. */
export interface Violation {
  invariant: Invariant;
  part: string;
  /** The message, where it is about one. */
  n?: string;
  detail: string;
}
