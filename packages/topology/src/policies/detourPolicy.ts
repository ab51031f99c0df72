/** Whether a policy, by its name, leads messages past a network's level 0 while its matching is changed. */
export function isDetourPolicy(policy: string, levelExchange: string): boolean {
  if (!policy.startsWith(levelExchange)) return false;
  return ["-detour", "-detour-fallback", "-detour-to-exact", "-detour-to-delivery"].includes(
    policy.slice(levelExchange.length),
  );
}
