/** What a change amounts to, from harmless to bad; `unknown` where the preview is not whole, so that nobody can say. */
export const verdicts = ["nothing", "safe", "care", "unknown", "loss"] as const;

export type Verdict = (typeof verdicts)[number];
