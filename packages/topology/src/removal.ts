/** What happens on the broker, or on Kubernetes, to what leaves a program or a config. */
export const removals = ["retain", "delete"] as const;
