import type { Test } from "mocha";

type Description = () => string | Promise<string>;

/** How long the description of one thing may take, e.g. where a broker does not answer. */
const LIMIT_MS = 5000;

const descriptions: Description[] = [];

/** Says of something that the current test uses how it stands, if the test's time is up; otherwise nobody could tell what it waited for. */
export function ifThisTestTimesOut(describe: Description): void {
  descriptions.push(describe);
}

/** Adds to the error of a test whose time was up what everything that it used has to say. */
export async function explainTimeout(test: Test | undefined): Promise<void> {
  const said = descriptions.splice(0);
  const error = (test as { err?: Error & { code?: string } } | undefined)?.err;
  if (error?.code !== "ERR_MOCHA_TIMEOUT") return;
  const answers = await Promise.all(said.map((describe) => answerOf(describe)));
  error.message = [firstSentence(error.message), ...answers].join("\n");
  error.stack = error.message;
}

function firstSentence(message: string): string {
  return message.split(". ")[0] as string;
}

async function answerOf(describe: Description): Promise<string> {
  const late = new Promise<string>((resolve) =>
    setTimeout(() => resolve(`no description within ${LIMIT_MS / 1000} s`), LIMIT_MS).unref(),
  );
  const failed = (error: unknown): string => `no description: ${(error as Error).message}`;
  return Promise.race([late, Promise.resolve().then(describe).catch(failed)]);
}
