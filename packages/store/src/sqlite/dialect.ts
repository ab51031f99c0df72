import type { Dialect } from "../sql/filter";
import { columnsOf } from "../sql/rows";

/** Times are milliseconds already. */
export const milliseconds = (time: string): string => time;
/** Columns of a message. */
export const columns = columnsOf(milliseconds);

export const dialect: Dialect = {
  placeholder: () => "?",
  time: (at) => at.getTime(),
  header: (name, value, add) => {
    const kept = `SELECT 1 FROM json_each(properties, '$.headers') AS header WHERE header.key = ${add(name)}`;
    if (typeof value === "boolean") return `EXISTS (${kept} AND header.type = ${add(String(value))})`;
    const types = typeof value === "string" ? "('text')" : "('integer', 'real')";
    return `EXISTS (${kept} AND header.type IN ${types} AND header.value = ${add(value)})`;
  },
};
