import type { EntityChange } from "../preview/entityChange";

/** Dependencies of the resources after an update, by which the engine orders its steps. */
export class Dependencies {
  private readonly needs: ReadonlyMap<string, readonly string[]>;
  private readonly reached = new Map<EntityChange, ReadonlySet<string>>();

  constructor(changes: readonly EntityChange[]) {
    this.needs = new Map(changes.map(({ urn, laterDependencies = [] }) => [urn, laterDependencies]));
  }

  /** Returns the URNs of all resources that the engine creates or changes before another one. */
  neededBy(change: EntityChange): ReadonlySet<string> {
    const known = this.reached.get(change);
    if (known !== undefined) return known;
    const found = new Set<string>();
    const open = [...(change.laterDependencies ?? [])];
    for (let urn = open.pop(); urn !== undefined; urn = open.pop()) {
      if (found.has(urn)) continue;
      found.add(urn);
      open.push(...(this.needs.get(urn) ?? []));
    }
    this.reached.set(change, found);
    return found;
  }
}
