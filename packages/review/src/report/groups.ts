import { componentOf } from "@rabbitmq-delay/topology/stack";
import type { Finding } from "../judge/finding";
import { RuleName, Severity, Step, rules } from "../judge/rules";
import type { ChangeLine } from "./summary";
import { isEndpoint, nameOf, typeOf } from "../preview/urn";
import { plural } from "./plural";

/** Findings of one rule, in one component or of one kind of component. */
export interface FindingGroup {
  rule: RuleName;
  severity: Severity;
  accepted?: string;
  findings: Finding[];
  /** Heading: how many of which kind, e.g. `7 queues`; empty if the rest says it. */
  subject: string;
  /** Heading: the component that they belong to. */
  owner?: string;
  /** Heading: what happens to them. */
  predicate: string;
  consequence: string;
  details: string[];
  wayOut: readonly string[];
}

/** With more groups by component than this, the findings of one rule form one group. */
const MOST_GROUPS = 20;

/** Combines findings that one sentence can tell: the same rule in one component; all endpoints together, and many components too. */
export function groupFindings(findings: Finding[]): FindingGroup[] {
  const byComponent = groupBy(findings, true);
  return tellOnce(byComponent.length > MOST_GROUPS ? groupBy(findings, false) : byComponent);
}

/** Leaves out of each way out the steps that an earlier group has told; accepted groups stand elsewhere in the report. */
function tellOnce(groups: FindingGroup[]): FindingGroup[] {
  const told = new Set<string>();
  return groups.map((group) => {
    if (group.accepted !== undefined) return group;
    const fresh = group.wayOut.filter((step) => !told.has(step));
    group.wayOut.forEach((step) => told.add(step));
    return fresh.length === group.wayOut.length ? group : { ...group, wayOut: [...fresh, "As above."] };
  });
}

function groupBy(findings: Finding[], isByComponent: boolean): FindingGroup[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { rule, severity, accepted, parent = "" } = finding;
    const owner = isEndpoint(parent) ? typeOf(parent) : parent;
    const key = JSON.stringify([rule, severity, accepted, isByComponent ? owner : ""]);
    const same = groups.get(key);
    if (same === undefined) groups.set(key, [finding]);
    else same.push(finding);
  }
  return [...groups.values()].map(toGroup).sort(byWeight);
}

const severities: Severity[] = ["loss", "care", "note"];
const ruleNames = Object.keys(rules);

/** Makes the same change always read the same, in whichever order the engine planned it. */
function byWeight(a: FindingGroup, b: FindingGroup): number {
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    ruleNames.indexOf(a.rule) - ruleNames.indexOf(b.rule) ||
    compare(a.owner ?? "", b.owner ?? "") ||
    compare(a.findings[0]?.entity ?? "", b.findings[0]?.entity ?? "")
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toGroup(findings: Finding[]): FindingGroup {
  const { rule, severity, accepted, parent } = findings[0] as Finding;
  const { title, consequence, wayOut } = rules[rule];
  const isShared = isEndpoint(parent);
  const isOfOne = parent !== undefined && !isShared && findings.every((finding) => finding.parent === parent);
  return {
    rule,
    severity,
    ...(accepted === undefined ? {} : { accepted }),
    findings: [...findings].sort((a, b) => compare(a.entity, b.entity)),
    subject: title.startsWith("% ") ? subjectOf(findings) : "",
    ...(isOfOne ? { owner: nameOf(parent) } : {}),
    predicate: title.replace(/^% /, ""),
    consequence: consequence.trim(),
    details: [...new Set(findings.flatMap(({ detail }) => (detail === undefined ? [] : [detail])))],
    wayOut: wayOut.map((step) => fillIn(typeof step === "string" ? step : sentenceOf(step, findings), findings)),
  };
}

function sentenceOf(step: Exclude<Step, string>, findings: Finding[]): string {
  const isOfComponent = findings.some(
    ({ parent }) => parent !== undefined && componentOf(typeOf(parent)) !== undefined,
  );
  return isOfComponent ? step.ofComponent : step.ofResource;
}

/** Fills in a command with this change's own names, if they need no quoting. */
function fillIn(step: string, findings: Finding[]): string {
  const [first] = findings;
  const vhosts = new Set(findings.map(({ vhost = "" }) => vhost));
  const [vhost = ""] = vhosts;
  const isOneAlias = findings.every(({ alias }) => alias === first?.alias);
  const alias = isOneAlias && /^[\w./:$ {}",-]+$/.test(first?.alias ?? "") ? first?.alias : undefined;
  // A queue's type that the program leaves out.
  const types = new Set(findings.map(({ causes }) => causes[0]?.before ?? ""));
  const [type = ""] = types;
  return step
    .replaceAll("TYPE", () => (types.size === 1 && /^[a-z]+$/.test(type) ? type : "TYPE"))
    .replaceAll("VHOST", () => (vhosts.size === 1 && /^[\w./-]+$/.test(vhost) ? vhost : "VHOST"))
    .replaceAll("ALIAS", () => alias ?? placeholderOf(findings));
}

/** An alias for several resources, or of a name that needs quoting. */
function placeholderOf(findings: Finding[]): string {
  const isMoved = findings.some(({ alias = "" }) => alias.includes("rootStackResource"));
  if (isMoved) return '{ name: "OLD_NAME", parent: pulumi.rootStackResource }';
  return findings.some(({ alias = "" }) => alias.startsWith('"urn:')) ? '"OLD_URN"' : '{ name: "OLD_NAME" }';
}

/** Findings of a group that one line can tell, because only their names differ. */
export interface Telling {
  findings: Finding[];
  found?: string;
}

/** One telling for each finding with causes or messages of its own, and one for all findings about which the same is to be said. */
export function toTellings(findings: Finding[]): Telling[] {
  const told: Telling[] = [];
  const byFound = new Map<string, Telling>();
  for (const finding of findings) {
    const { causes, found } = finding;
    if (causes.length > 0 || isMessage(finding.rule)) {
      told.push({ findings: [finding], found });
      continue;
    }
    const same = byFound.get(found ?? "");
    if (same === undefined) {
      const telling: Telling = { findings: [finding], found };
      byFound.set(found ?? "", telling);
      told.push(telling);
    } else same.findings.push(finding);
  }
  return told;
}

/** Rules whose findings have a message in the place of an entity. */
const MESSAGES: ReadonlySet<RuleName> = new Set([
  "preview-failed",
  "program-warned",
  "other-warned",
  "broker-fault",
  "broker-not-asked",
  "broker-elsewhere",
]);

/** Whether a finding is about a message, and not about an entity with its kind before it. */
export function isMessage(rule: RuleName): boolean {
  return MESSAGES.has(rule);
}

/** `3 queues`, or `1 queue`; kinds are the entities' first words. */
function subjectOf(findings: Finding[]): string {
  const kind = findings[0]?.entity.split(" ")[0] ?? "entity";
  const isOneKind = findings.every(({ entity }) => entity.startsWith(`${kind} `));
  const word = isOneKind ? kind : "entity";
  return `${findings.length} ${plural(word, findings.length)}`;
}

/** Changes that one line can tell: the same with other names. */
export interface ChangeGroup extends Omit<ChangeLine, "name"> {
  names: string[];
}

export function groupChanges(changes: ChangeLine[]): ChangeGroup[] {
  const groups = new Map<string, ChangeGroup>();
  for (const { name, ...line } of changes) {
    const key = JSON.stringify([line.mark, line.subject, line.predicate]);
    const same = groups.get(key);
    if (same === undefined) groups.set(key, { ...line, names: [name] });
    else same.names.push(name);
  }
  return [...groups.values()];
}
