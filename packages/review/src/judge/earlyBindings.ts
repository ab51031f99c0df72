import { EntityChange, isReadable } from "../preview/entityChange";
import type { Dependencies } from "./dependencies";
import { surelyTakes } from "./taking";
import { Place, Ways, typeOf } from "./ways";

/** A new binding that may come before the bindings behind it. */
export interface EarlyBinding {
  change: EntityChange;
  detail: string;
}

/**
 * Finds new bindings that take messages from an alternate exchange before the update has bound a queue behind them. The engine creates what does
 * not depend on each other in any order.
 * @param places exchanges where messages come from, with their keys
 */
export function earlyBindings(
  places: readonly Place[],
  before: Ways,
  after: Ways,
  dependencies: Dependencies,
): EarlyBinding[] {
  const found = new Map<EntityChange, EarlyBinding>();
  for (const place of places) {
    const made = after.takers(place).filter(({ change }) => isMade(change));
    if (made.length === 0 || before.endAt(place) === "nowhere") continue;
    const { exchange, key } = place;
    const source = before.exchangeAt(place);
    if (
      source === undefined ||
      before.takers(place).some(({ values }) => surelyTakes(typeOf(source), values.routingKey, key))
    )
      continue;
    for (const { change, values } of made) {
      const { destination, destinationType } = values;
      if (found.has(change) || destinationType !== "exchange" || !isReadable(destination)) continue;
      const next = { ...place, exchange: destination };
      // A policy that can't be read leaves it open what is there before.
      if (before.endAt(next) === "queue" || after.endAt(next) === "nowhere") continue;
      if (isReady(next, before, after, dependencies.neededBy(change))) continue;
      const detail =
        `The alternate exchange of ${exchange} takes such messages until then. If this binding comes first, they go to exchange ` +
        `${destination}, from which no binding leads on yet.`;
      found.set(change, { change, detail });
    }
  }
  return [...found.values()];
}

/** Whether messages come to a queue from an exchange by what is there before a binding, or comes before it. */
function isReady(
  place: Place,
  before: Ways,
  after: Ways,
  needed: ReadonlySet<string>,
  seen = new Set<string>(),
): boolean {
  if (before.endAt(place) === "queue") return true;
  if (seen.has(place.exchange)) return false;
  seen.add(place.exchange);
  return after.takers(place).some(({ change, values: { destination, destinationType } }) => {
    if (isMade(change) && !needed.has(change.urn)) return false;
    if (destinationType !== "exchange" || !isReadable(destination)) return true;
    return isReady({ ...place, exchange: destination }, before, after, needed, seen);
  });
}

/** Whether the update creates a binding; one that it imports is there already. */
function isMade({ action, isImport }: EntityChange): boolean {
  return (action === "create" && !isImport) || action === "replace";
}
