import { EntityChange, isAutoDelete, isMissing } from "../preview/entityChange";
import { isAt, takesBindingsAlong } from "./bindingsLeftOut";

/** A new binding of an exchange that may be gone when the binding comes. */
interface TooLate {
  change: EntityChange;
  detail: string;
  /** Whether the exchange is gone for certain. */
  isSure: boolean;
}

/**
 * Finds exchanges that delete themselves during the update: all their bindings go before the new binding comes, which the broker then refuses.
 */
export function selfDeleting(changes: readonly EntityChange[]): TooLate[] {
  const bindings = changes.filter(({ kind }) => kind === "binding");
  const taking = changes.filter((change) => change.action === "replace" && takesBindingsAlong(change));
  return changes.flatMap((exchange): TooLate[] => {
    const { kind, action, before } = exchange;
    if (kind !== "exchange" || action !== "same" || !isAutoDelete(before) || isMissing(exchange)) return [];
    const isFrom = (values: Record<string, unknown> | undefined): boolean =>
      values?.vhost === before?.vhost && values?.source === before?.name;
    const own = bindings.filter((binding) => isFrom(binding.before) && !isMissing(binding));
    const made = bindings.find(
      (binding) => (binding.action === "create" || binding.action === "replace") && isFrom(binding.after),
    );
    if (made === undefined || own.length === 0) return [];
    /** Whether a binding goes before the others come; undefined if the preview does not list these steps. */
    const goesFirst = (binding: EntityChange): boolean | undefined => {
      const ends = taking.filter((change) => isAt(binding.before, change)).map(({ isDeletedFirst }) => isDeletedFirst);
      const isReplaced = binding.action === "replace" && !binding.isRetained;
      const all = [...ends, ...(isReplaced ? [binding.isDeletedFirst] : [])];
      return all.includes(true) ? true : all.includes(undefined) ? undefined : false;
    };
    const first = own.map(goesFirst);
    if (first.includes(false)) return [];
    const isSure = !first.includes(undefined);
    const detail =
      `Exchange ${String(before?.name)} deletes itself with its last binding, ${isSure ? "before" : "maybe before"} this one comes: the update ` +
      "fails half-way, and publishers to the exchange get their channels closed.";
    return [{ change: made, detail, isSure }];
  });
}
