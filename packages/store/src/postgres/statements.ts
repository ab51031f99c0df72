import type { NewDelayedMessage } from "../delayedMessage";
import { propertiesToJson } from "../messageProperties";
import type { Dialect } from "../sql/filter";

/** Arrays, one a column, for one statement that inserts any number of rows. */
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

export const dialect: Dialect = {
  placeholder: (index) => `$${index}`,
  time: (at) => at,
  header: (name, value, add) => `properties->'headers' @> ${add(JSON.stringify({ [name]: value }))}::jsonb`,
};
