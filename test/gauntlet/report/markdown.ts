import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { invariants } from "../invariants/violation";
import { faultKinds } from "../plan/types";
import type { Tally } from "./tally";

/** What rounds did, as the tables of docs/reliability.md. */
export function markdownOf(tally: Tally): string {
  const { passed, failed, seeds, published, confirmed, arrived, messages, faults, versions } = tally;
  const range = seeds.length === 0 ? "none" : `${seeds[0]} to ${seeds.at(-1)}`;
  const brokers = [...versions.values()].map((version) => `RabbitMQ ${version}`).join(", ");
  return [
    "| rounds | |",
    "| --- | --- |",
    `| passed, failed | ${passed}, ${failed} |`,
    `| seeds | ${range} |`,
    `| brokers | ${brokers} |`,
    `| messages published, confirmed, received | ${published}, ${confirmed}, ${arrived} |`,
    `| of them by mechanism | ${[...messages].map(([name, count]) => `${name} ${count}`).join(", ")} |`,
    `| invariants checked in each round | ${Object.keys(invariants).length} |`,
    "",
    "| fault | times |",
    "| --- | --- |",
    ...faultKinds.map((kind) => `| ${kind.replaceAll("-", " ")} | ${faults.get(kind) ?? 0} |`),
    `| consumer that crashed or broke its connection by itself | ${faults.get("consumer-crashed") ?? 0} |`,
    `| consumer that stood still by itself | ${faults.get("consumer-blocked") ?? 0} |`,
    "",
  ].join("\n");
}

const [BEGIN, END] = ["<!-- figures: begin -->", "<!-- figures: end -->"];

/** Writes what rounds did into a file, between the marks that docs/reliability.md has, or as the whole file. */
export function writeReport(file: string, tally: Tally): void {
  const tables = markdownOf(tally);
  const page = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  const whole = begin < 0 || end < begin ? tables : `${page.slice(0, begin)}${BEGIN}\n\n${tables}\n${page.slice(end)}`;
  writeFileSync(file, whole);
}
