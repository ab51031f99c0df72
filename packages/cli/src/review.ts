import { readFileSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { CommandError, exitCodes } from "./failure";
import { parseBrokerUrl } from "./managementApi";
import { renderHtml } from "./review/html";
import { renderMarkdown } from "./review/markdown";
import { parsePreview } from "./review/preview";
import { Acceptance, Review, Verdict, reviewOf, verdicts } from "./review/review";
import { runPreview } from "./review/runPreview";
import { parseUrn } from "./review/urn";

interface ReviewVerbOptions {
  stack?: string;
  configFile?: string;
  refresh?: boolean;
  broker?: string;
  format: keyof typeof formats;
  output?: string;
  failOn?: Verdict;
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
      "--broker <url>",
      "management API to ask how many messages are in question, e.g. http://USER:PASSWORD@HOST:15672",
    )
    .addOption(new Option("--format <format>", "form of the report").choices(Object.keys(formats)).default("markdown"))
    .option("--output <file>", "write the report there instead of to standard output")
    .addOption(new Option("--fail-on <verdict>", "exit with 1 at this verdict or worse").choices(["care", "loss"]))
    .option("--accept <urn>", "let a danger pass: URN of a resource or of its component; needs --because", collect, [])
    .option("--because <reason>", "why, for the report; one for each --accept", collect, [])
    .option("--json", "the same as --format json")
    .action(review);
}

async function review(file: string | undefined, options: ReviewVerbOptions): Promise<void> {
  const { stack, broker, failOn, output } = options;
  const accepted = acceptances(options);
  const address = broker === undefined ? undefined : parseBrokerUrl(broker);
  const preview = parsePreview(await read(file, options), file ?? `the preview of ${stack}`);
  const result = await reviewOf(preview, { accepted, broker: address });
  for (const { urn } of accepted) {
    const isUsed = result.findings.some((finding) => finding.urn === urn || finding.parent === urn);
    if (!isUsed) console.error(`note: nothing of ${urn} is in question any more; its --accept can go`);
  }
  const name = stack ?? parseUrn(preview.steps[0]?.urn ?? "")?.stack ?? "";
  const text = formats[options.json ? "json" : options.format](result, name);
  if (output === undefined) process.stdout.write(text);
  else writeFileSync(output, text);
  if (failOn !== undefined && verdicts.indexOf(result.verdict) >= verdicts.indexOf(failOn)) {
    process.exitCode = exitCodes.finding;
  }
}

function acceptances({ accept, because }: ReviewVerbOptions): Acceptance[] {
  if (accept.length !== because.length || because.some((reason) => reason.trim() === "")) {
    throw new CommandError(
      exitCodes.badInput,
      "each --accept URN needs a reason that the report then shows: --because TEXT",
    );
  }
  return accept.map((urn, index) => ({ urn, reason: because[index] as string }));
}

async function read(file: string | undefined, options: ReviewVerbOptions): Promise<string> {
  const { stack, configFile, refresh } = options;
  if ((file === undefined) === (stack === undefined)) {
    throw new CommandError(
      exitCodes.badInput,
      "give exactly one of a preview's file (- for standard input) and --stack",
    );
  }
  if (stack !== undefined) {
    if (process.stderr.isTTY) console.error(`running the preview of stack ${stack} …`);
    return runPreview(stack, [
      ...(configFile === undefined ? [] : ["--config-file", configFile]),
      ...(refresh ? ["--refresh"] : []),
    ]);
  }
  try {
    return readFileSync(file === "-" ? 0 : (file as string), "utf8");
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `${file} can't be read (${(error as Error).message})`);
  }
}
