/** Excerpts of the ways out that an update, adopt and enforce print, by the file that holds the text and by an id. */
export const texts = {
  "packages/broker/src/preflight/matchingChange.ts": {
    "preflight-enforce": "Run rabbitmq-delay enforce",
    "preflight-enforce-undo": "Or run rabbitmq-delay enforce --undo",
    "preflight-refresh": "Run pulumi refresh first",
  },
} as const;

/** Ways out that no test follows, with the reason. */
export const undone = {};

/** Ways out that a test follows without looking at the text: the test's file and a part of its title. */
export const doneBy = {} as const;
