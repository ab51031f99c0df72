import { readFileSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { isSameAddress } from "rabbitmq-delay-topology";
import { looksLikeAddress, printError } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { BrokerUrl, parseBrokerUrl } from "./managementApi";
import { renderHtml } from "./review/html";
import { renderMarkdown } from "./review/markdown";
import { plannedEndpoints } from "./review/planBroker";
import { Preview, parsePreview } from "./review/preview";
import { secretsOf, withoutSecrets } from "./review/redact";
import { Acceptance, Review, Verdict, reviewOf, verdicts } from "./review/review";
import { PreviewRun, runPreview } from "./review/runPreview";
import { parseUrn } from "./review/urn";

interface ReviewVerbOptions {
  stack?: string;
  configFile?: string;
  refresh?: boolean;
  management?: string;
  /** Former name of `management`. */
  broker?: string;
  format: keyof typeof formats;
  output?: string;
  failOn: Extract<Verdict, "care" | "loss"> | "never";
  accept: string[];
  because: string[];
  json?: boolean;
}

const formats = {
  markdown: renderMarkdown,
  html: renderHtml,
  json: (review: Review): string => `${JSON.stringify(review, undefined, 2)}\n`,
};

const collect = (value: string, values: string[]): string[] => [...values, value];

/** `review`: what a topology change does, and what it would lose. */
export function addReview(program: Command): void {
  program
    .command("review")
    .description("what a preview would do to messages: pulumi preview --json as a file or -, or --stack to run it")
    .argument("[file]", "the preview's JSON; - reads it from standard input")
    .option("--stack <stack>", "run the preview of this stack in the current folder")
    .option("--config-file <file>", "with --stack: another config file")
    .option("--refresh", "with --stack: compare with the broker first, so that drift shows")
    .option(
      "--management <url>",
      "management API to ask how many messages are in question, e.g. http://USER:PASSWORD@HOST:15672 " +
        "(default: RABBITMQ_MANAGEMENT_URL, where the plan's provider has that very address)",
    )
    .addOption(new Option("--broker <url>", "the same as --management").hideHelp())
    .addOption(new Option("--format <format>", "form of the report").choices(Object.keys(formats)).default("markdown"))
    .option("--output <file>", "write the report there instead of to standard output")
    .addOption(
      new Option("--fail-on <verdict>", "exit with 1 at this verdict or worse; never: report alone")
        .choices(["never", "care", "loss"])
        .default("loss"),
    )
    .option("--accept <urn>", "let a danger pass: URN of a resource or of its component; needs --because", collect, [])
    .option("--because <reason>", "why, for the report; one for each --accept", collect, [])
    .option("--json", "the same as --format json")
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 a finding (--fail-on), 2 bad usage or input, 3 the preview failed or the broker did not answer." +
        "\nExample: rabbitmq-delay review --stack prod --output review.md",
    )
    .action(review);
}

async function review(file: string | undefined, options: ReviewVerbOptions): Promise<void> {
  const { stack } = options;
  if (stack !== undefined && looksLikeAddress(stack)) {
    // The report's heading is the stack's name.
    throw new CommandError(exitCodes.badInput, "--stack: it holds :// or @, as an address does; give a stack's name");
  }
  const accepted = acceptances(options);
  const given = givenAddress(options);
  const { preview, name } = await read(file, options);
  const broker = given ?? addressOf(preview);
  const result = await reviewOf(preview, { accepted, broker });
  for (const { urn } of accepted) {
    const isUsed = result.findings.some((finding) => finding.urn === urn || finding.parent === urn);
    if (!isUsed) printError(`note: nothing of ${urn} is in question any more; its --accept can go`);
  }
  write(formats[options.json ? "json" : options.format](result, stack ?? name), options.output);
  process.exitCode = exitCodeOf(result, options);
  if (result.brokerError !== undefined) printError(`error: ${result.brokerError}`);
  if (preview.errors.length > 0) printError(`error: the preview is not whole: ${preview.errors[0]?.split("\n")[0]}`);
}

/** An answer that was asked for and can't be had comes first; a danger in a part of a plan is one all the same. */
function exitCodeOf({ verdict, brokerError }: Review, { failOn }: ReviewVerbOptions): number {
  if (brokerError !== undefined) return exitCodes.outOfReach;
  if (failOn !== "never" && verdicts.indexOf(verdict) >= verdicts.indexOf(failOn)) return exitCodes.finding;
  return verdict === "unknown" ? exitCodes.outOfReach : exitCodes.done;
}

function write(text: string, output: string | undefined): void {
  if (output === undefined) {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(output, text);
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `--output: ${output} can't be written (${(error as Error).message})`);
  }
}

function givenAddress({ management, broker }: ReviewVerbOptions): BrokerUrl | undefined {
  if (management !== undefined && broker !== undefined) {
    throw new CommandError(exitCodes.badInput, "--broker is the former name of --management; give one of them");
  }
  const given = management ?? broker;
  // An empty one is a variable that nobody set, and no wish to do without.
  return given === undefined ? undefined : parsedAddress(given);
}

function parsedAddress(text: string): BrokerUrl {
  try {
    return parseBrokerUrl(text);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      exitCodes.badInput,
      "--management: the user or the password in it is not written as in a URL",
    );
  }
}

/**
 * The broker of the environment, where the plan is for that very address: another one may have queues of the same names, and what
 * is empty there says nothing of those in question.
 */
function addressOf(preview: Preview, environment = process.env): BrokerUrl | undefined {
  const { RABBITMQ_MANAGEMENT_URL: url = "" } = environment;
  if (url === "") return undefined;
  const endpoints = plannedEndpoints(preview);
  if (endpoints.length > 0 && endpoints.every((endpoint) => isSameAddress(endpoint, url))) return parsedAddress(url);
  printError(
    "note: the broker of RABBITMQ_MANAGEMENT_URL is not asked, because the plan does not say that it is this one; --management names it",
  );
  return undefined;
}

function acceptances({ accept, because }: ReviewVerbOptions): Acceptance[] {
  if (accept.length !== because.length || because.some((reason) => reason.trim() === "")) {
    throw new CommandError(
      exitCodes.badInput,
      "each --accept URN needs a reason that the report then shows: --because TEXT",
    );
  }
  return accept.map((urn, index) => ({ urn, reason: withoutSecrets(because[index] as string, secretsOf()) }));
}

/** @returns the preview, and the stack's name as its resources have it */
async function read(file: string | undefined, options: ReviewVerbOptions): Promise<{ preview: Preview; name: string }> {
  const { text, exitCode } = await textOf(file, options);
  const preview = parsed(text, file, options.stack, exitCode);
  return { preview, name: parseUrn(preview.steps[0]?.urn ?? "")?.stack ?? "" };
}

/** What an engine printed that is no plan is a preview that failed; a file that is none was the wrong one. */
function parsed(text: string, file: string | undefined, stack: string | undefined, exitCode: number | null): Preview {
  const source = file ?? `the preview of ${stack}`;
  try {
    return parsePreview(text, source, exitCode);
  } catch (error) {
    if (stack === undefined || !(error instanceof CommandError)) throw error;
    return parsePreview(failedPreview(error), source, null);
  }
}

/** A plan that holds no more than why there is none: a pull request has to see that nothing was reviewed, so it is a report, too. */
function failedPreview({ message }: CommandError): string {
  const shown = withoutSecrets(message, secretsOf());
  return JSON.stringify({ steps: [], diagnostics: [{ severity: "error", message: shown }] });
}

async function textOf(file: string | undefined, options: ReviewVerbOptions): Promise<PreviewRun> {
  const { stack, configFile, refresh } = options;
  if ((file === undefined) === (stack === undefined)) {
    throw new CommandError(
      exitCodes.badInput,
      "give exactly one of a preview's file (- for standard input) and --stack",
    );
  }
  if (stack !== undefined) {
    if (process.stderr.isTTY) console.error(`running the preview of stack ${stack} …`);
    const more = [
      ...(configFile === undefined ? [] : ["--config-file", configFile]),
      ...(refresh ? ["--refresh"] : []),
    ];
    try {
      return await runPreview(stack, more);
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode !== exitCodes.outOfReach) throw error;
      return { text: failedPreview(error), exitCode: null };
    }
  }
  try {
    return { text: readFileSync(file === "-" ? 0 : (file as string), "utf8"), exitCode: 0 };
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `${file} can't be read (${(error as Error).message})`);
  }
}
