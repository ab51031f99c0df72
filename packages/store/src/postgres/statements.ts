import type { NewDelayedMessage } from "../delayedMessage";
import { propertiesToJson } from "../messageProperties";
import type { Dialect } from "../sql/filter";
import { columnsOf } from "../sql/rows";

/** Arrays, one for each column, for a single statement that inserts any number of rows. */
export function toArrays(messages: NewDelayedMessage[]): unknown[] {
  return [
    messages.map(({ messageId }) => messageId),
    messages.map(({ dueAt }) => dueAt),
    messages.map(({ exchange }) => exchange),
    messages.map(({ routingKey }) => routingKey),
    messages.map(({ properties }) => propertiesToJson(properties)),
    messages.map(({ body }) => body),
  ];
}

/** A time as milliseconds since 1970, because its text depends on the DateStyle of a database or role. */
export const milliseconds = (time: string): string => `round(extract(epoch FROM ${time}) * 1000)::float8`;
/** Columns of a message; the names are those of the numbers, so order by the table's own columns as `message.attempt_at`. */
export const columns = columnsOf(milliseconds);

export const dialect: Dialect = {
  placeholder: (index) => `$${index}`,
  time: (at) => at,
  header: (name, value, add) => `properties->'headers' @> ${add(JSON.stringify({ [name]: value }))}::jsonb`,
};
