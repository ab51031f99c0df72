import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import {
  Acceptance,
  BrokerAnswers,
  Preview,
  PreviewError,
  Review,
  Verdict,
  parsePreview,
  parseUrn,
  plannedEndpoints,
  renderHtml,
  renderMarkdown,
  reviewOf,
  secretsOf,
  verdicts,
  withoutSecrets,
} from "@rabbitmq-delay/review";
import { isSameAddress } from "@rabbitmq-delay/topology/stack";
import { addExample, commonOptions, gather } from "./commonOptions";
import { countingOver } from "./countNow";
import { looksLikeAddress, printError } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { readText, writeText } from "./files";
import { readerOf } from "./managementApi";
import { PreviewRun, runPreview } from "./runPreview";

interface ReviewVerbOptions {
  stack?: string;
  stackConfig?: string;
  refresh?: boolean;
  management?: string;
  amqp?: string;
  ca?: string;
  format: keyof typeof formats;
  output?: string;
  failOn: Extract<Verdict, "care" | "loss"> | "never";
  accept?: string[];
  because?: string[];
}

const formats = {
  markdown: renderMarkdown,
  html: (review: Review, stack: string): string => renderHtml(review, stack),
  json: (review: Review): string => `${JSON.stringify(review, undefined, 2)}\n`,
};

/** `review`: says what a topology change does, and what it would lose. */
export function addReview(program: Command): void {
  const command = program
    .command("review")
    .description("say what a change would do to messages; reads the JSON of pulumi preview, or runs it with --stack");
  command
    .argument("[file]", "the preview's JSON; - reads it from standard input")
    .option("--stack <stack>", "run the preview of this stack in the current folder")
    .option("--stack-config <file>", "with --stack: another config file than Pulumi.STACK.yaml")
    .option("--refresh", "with --stack: compare with the broker first, so that drift shows")
    .addOption(
      commonOptions.management(
        "management API to ask how many messages are in question, e.g. http://USER:PASSWORD@HOST:15672; the one in the " +
          "environment is asked only if the plan's provider has the same address",
      ),
    )
    .addOption(
      commonOptions.amqp(
        "with --management: the same broker and vhost over AMQP, to count queues at this moment that seem to be empty; the management API's " +
          "counts may be ten seconds old, and the address in the environment is not used",
      ),
    )
    .addOption(commonOptions.ca())
    .addOption(new Option("--format <format>", "form of the report").choices(Object.keys(formats)).default("markdown"))
    .option("--output <file>", "write the report there instead of to standard output")
    .addOption(
      new Option("--fail-on <verdict>", "exit with 1 at this verdict or worse; never: only report")
        .choices(["never", "care", "loss"])
        .default("loss"),
    )
    .option("--accept <urn>", "let a danger pass: URN of a resource or of its component; needs --because", gather)
    .option("--because <reason>", "why, for the report; one for each --accept", gather)
    .addOption(new Option("--json", "the same as --format json").implies({ format: "json" }))
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 a finding (--fail-on), 2 bad usage or input, 3 the preview failed or the broker did not answer.",
    )
    .action(review);
  addExample(command, "rabbitmq-delay review --stack prod --output review.md");
}

async function review(file: string | undefined, options: ReviewVerbOptions, command: Command): Promise<void> {
  const { stack } = options;
  if (stack !== undefined && looksLikeAddress(stack)) {
    // The report's heading is the stack's name.
    throw new CommandError(exitCodes.badInput, "--stack: it holds :// or @, as an address does; give a stack's name");
  }
  const accepted = acceptances(options);
  const isNamed = command.getOptionValueSource("management") !== "env";
  const given = isNamed ? addressOf(options) : undefined;
  const { preview, name, project } = await read(file, options);
  const asked = given ?? (isNamed ? undefined : addressOfPlan(preview, options));
  const isCounted = command.getOptionValueSource("amqp") === "cli";
  let uncounted: string | undefined;
  const broker =
    asked !== undefined && isCounted ? countedNow(asked, options, (reason) => (uncounted = reason)) : asked;
  const result = await reviewOf(preview, { accepted, broker });
  for (const { urn } of accepted) {
    const isUsed = result.findings.some((finding) => finding.urn === urn || finding.parent === urn);
    if (!isUsed) printError(`note: nothing of ${urn} is in question any more; its --accept can go`);
  }
  write(formats[options.format](result, name, project), options.output);
  process.exitCode = exitCodeOf(result, options);
  if (uncounted !== undefined) {
    printError(`error: ${uncounted}; the counts are the management API's`);
    process.exitCode = exitCodes.outOfReach;
  }
  if (result.brokerError !== undefined) printError(`error: --management: ${result.brokerError}`);
  if (preview.errors.length > 0) printError(`error: the preview is not whole: ${preview.errors[0]?.split("\n")[0]}`);
}

/** A missing answer of a broker that was asked comes first; a danger in a part of a plan still counts. */
function exitCodeOf({ verdict, brokerError }: Review, { failOn }: ReviewVerbOptions): number {
  if (brokerError !== undefined) return exitCodes.outOfReach;
  if (failOn !== "never" && verdicts.indexOf(verdict) >= verdicts.indexOf(failOn)) return exitCodes.finding;
  return verdict === "unknown" ? exitCodes.outOfReach : exitCodes.done;
}

function write(text: string, output: string | undefined): void {
  if (output === undefined) process.stdout.write(text);
  else writeText(output, text, "--output");
}

/** Adds counts of this moment to a broker's answers; without them, the management API's stay. */
function countedNow(
  broker: BrokerAnswers,
  { amqp = "", ca }: ReviewVerbOptions,
  onFailure: (reason: string) => void,
): BrokerAnswers {
  const count = countingOver(amqp, ca);
  return {
    managementUrl: broker.managementUrl,
    get: (path) => broker.get(path),
    countNow: (vhost, queues) =>
      count(vhost, queues).catch((error: unknown) => {
        if (!(error instanceof CommandError)) throw error;
        onFailure(error.message);
        return new Map<string, number>();
      }),
  };
}

function addressOf({ management, ca }: ReviewVerbOptions): BrokerAnswers | undefined {
  return management === undefined ? undefined : readerOf(management, ca);
}

/**
 * The broker of the environment, if the plan is for that very address: another one may have queues of the same names, and empty queues
 * there say nothing about those in question.
 */
function addressOfPlan(preview: Preview, { management: url = "", ca }: ReviewVerbOptions): BrokerAnswers | undefined {
  const endpoints = plannedEndpoints(preview);
  if (endpoints.length > 0 && endpoints.every((endpoint) => isSameAddress(endpoint, url))) return readerOf(url, ca);
  printError(
    "note: the broker of RABBITMQ_MANAGEMENT_URL is not asked, because the plan does not say that it is this one; --management names it",
  );
  return undefined;
}

function acceptances({ accept = [], because = [] }: ReviewVerbOptions): Acceptance[] {
  if (accept.length !== because.length || because.some((reason) => reason.trim() === "")) {
    throw new CommandError(
      exitCodes.badInput,
      "each --accept URN needs a reason that the report then shows: --because TEXT",
    );
  }
  return accept.map((urn, index) => ({ urn, reason: withoutSecrets(because[index] as string, secretsOf()) }));
}

/** @returns the preview, and the names of the stack and its project as the resources have them, or the command and the folder */
async function read(
  file: string | undefined,
  options: ReviewVerbOptions,
): Promise<{ preview: Preview; name: string; project: string }> {
  const { text, exitCode } = await textOf(file, options);
  const preview = parsePlan(text, file, options.stack, exitCode);
  const found = parseUrn(preview.steps[0]?.urn ?? "");
  const named = options.stack?.split("/").at(-1);
  return { preview, name: found?.stack ?? named ?? "", project: found?.project ?? projectHere(options) };
}

/** The project of the current folder, for the preview of a stack that failed before its first resource. */
function projectHere({ stack }: ReviewVerbOptions): string {
  const file = ["Pulumi.yaml", "Pulumi.yml"].find((name) => existsSync(name));
  if (stack === undefined || file === undefined) return "";
  return /^name:\s*["']?([\w.-]+)/m.exec(readText(file))?.[1] ?? "";
}

/** If an engine printed something that is not a plan, the preview failed; if a file contains such a thing, it is the wrong file. */
function parsePlan(
  text: string,
  file: string | undefined,
  stack: string | undefined,
  exitCode: number | null,
): Preview {
  const source = file ?? `the preview of ${stack}`;
  try {
    return parsePreview(text, source, exitCode);
  } catch (error) {
    if (stack === undefined || !(error instanceof PreviewError)) throw error;
    return parsePreview(failedPreview(error), source, null);
  }
}

/** A plan that only says why there is none. A pull request has to show that nothing was reviewed, so this is a report, too. */
function failedPreview({ message }: Error): string {
  const shown = withoutSecrets(message, secretsOf());
  return JSON.stringify({ steps: [], diagnostics: [{ severity: "error", message: shown }] });
}

async function textOf(file: string | undefined, options: ReviewVerbOptions): Promise<PreviewRun> {
  const { stack, stackConfig, refresh } = options;
  if ((file === undefined) === (stack === undefined)) {
    throw new CommandError(
      exitCodes.badInput,
      "give exactly one of a preview's file (- for standard input) and --stack",
    );
  }
  if (stack !== undefined) {
    if (process.stderr.isTTY) console.error(`running the preview of stack ${stack} …`);
    const more = [
      ...(stackConfig === undefined ? [] : ["--config-file", stackConfig]),
      ...(refresh ? ["--refresh"] : []),
    ];
    try {
      return await runPreview(stack, more);
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode !== exitCodes.outOfReach) throw error;
      return { text: failedPreview(error), exitCode: null };
    }
  }
  return { text: readText(file as string), exitCode: 0 };
}
