/** The judgement of a whole change, from harmless to bad; `unknown` if the preview is incomplete, so that nobody can say. */
export const verdicts = ["nothing", "safe", "care", "unknown", "loss"] as const;

export type Verdict = (typeof verdicts)[number];
