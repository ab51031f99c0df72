import { Command, Option } from "commander";
import { olderMarker, secretsOf, withoutSecrets } from "@rabbitmq-delay/review";
import { shownAddress } from "@rabbitmq-delay/topology/stack";
import { addExample } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { readText } from "./files";

interface CommentOptions {
  on: keyof typeof forges;
  request?: string;
}

/** One comment of a pull or merge request. */
interface Comment {
  id: number;
  body: string;
  /** Its author: `user` at GitHub, `author` at GitLab. */
  user?: Author;
  author?: Author;
}

interface Author {
  id: number;
  type?: string;
}

/** How a forge names things. */
interface Forge {
  /** Tells whose the token is. */
  me: string;
  comments: string;
  one: (id: number) => string;
  updateMethod: "PATCH" | "PUT";
  headers: Record<string, string>;
}

type Environment = Record<string, string | undefined>;

const PAGE = 100;
/** Nobody reads a request with more comments, and a forge that returns the same page again and again would be asked for ever. */
const MOST_PAGES = 100;
const TIMEOUT_MS = 30_000;

const forges = {
  github(request: string | undefined, environment: Environment): Forge {
    const api = environment.GITHUB_API_URL ?? "https://api.github.com";
    const repository = requireVariable(environment, "GITHUB_REPOSITORY");
    // In a workflow of a pull request the ref is refs/pull/NUMBER/merge.
    const number = request ?? /^refs\/pull\/(\d+)\//.exec(environment.GITHUB_REF ?? "")?.[1];
    const base = `${api}/repos/${repository}/issues`;
    return {
      me: `${api}/user`,
      comments: `${base}/${checkNumber(number)}/comments`,
      one: (id) => `${base}/comments/${id}`,
      updateMethod: "PATCH",
      headers: {
        authorization: `Bearer ${requireVariable(environment, "GITHUB_TOKEN")}`,
        accept: "application/vnd.github+json",
      },
    };
  },
  gitlab(request: string | undefined, environment: Environment): Forge {
    const api = environment.CI_API_V4_URL ?? "https://gitlab.com/api/v4";
    const number = checkNumber(request ?? environment.CI_MERGE_REQUEST_IID);
    const comments = `${api}/projects/${requireVariable(environment, "CI_PROJECT_ID")}/merge_requests/${number}/notes`;
    return {
      me: `${api}/user`,
      comments,
      one: (id) => `${comments}/${id}`,
      updateMethod: "PUT",
      headers: { "private-token": requireVariable(environment, "GITLAB_TOKEN") },
    };
  },
};

/** `comment`: creates or updates the one comment of a review. */
export function addComment(program: Command): void {
  const command = program
    .command("comment")
    .description("post a review in Markdown as one comment of a pull request, or update the one that is there");
  command
    .argument("<file>", "the report of review --format markdown")
    .addOption(new Option("--on <forge>", "the forge").choices(Object.keys(forges)).makeOptionMandatory())
    .option("--request <number>", "number of the pull or merge request; default: the one whose pipeline this is")
    .action(async (file: string, { on, request }: CommentOptions) => {
      const body = readText(file);
      const marker = /^<!-- rabbitmq-delay review of .* -->/.exec(body)?.[0];
      if (marker === undefined) {
        throw new CommandError(
          exitCodes.badInput,
          `${file} is not a report of rabbitmq-delay review --format markdown`,
        );
      }
      console.log(await post(forges[on](request, process.env), marker, body));
    });
  addExample(command, "rabbitmq-delay comment review.md --on github");
}

/** @returns what was done, as one line */
async function post(forge: Forge, marker: string, body: string): Promise<string> {
  const isOwn = ownership(forge);
  const older = olderMarker(marker);
  const existing =
    (await find(forge, marker, isOwn)) ?? (older === undefined ? undefined : await find(forge, older, isOwn));
  if (existing?.body === body) return `comment ${existing.id} is up to date`;
  if (existing !== undefined) {
    await write(forge, forge.updateMethod, forge.one(existing.id), body);
    return `comment ${existing.id} updated`;
  }
  return `comment ${await write(forge, "POST", forge.comments, body)} made`;
}

/** @returns the comment's id, as the forge gives it; an answer of another kind means that no comment was written */
async function write(forge: Forge, method: string, url: string, body: string): Promise<number> {
  const comment = (await call(forge, method, url, { body })) as Partial<Comment> | null;
  if (Number.isSafeInteger(comment?.id)) return comment?.id as number;
  throw requestError(method, url, "its answer is no comment");
}

/**
 * Returns a function that says whether the token's owner wrote a comment, because anybody may write one that begins with the marker. GitHub
 * does not tell a pipeline's token its owner (HTTP 403): then each bot's comment counts.
 */
function ownership(forge: Forge): (comment: Comment) => Promise<boolean> {
  let asked: Promise<Partial<Author> | null | undefined> | undefined;
  const isBot = ({ type }: Author): boolean => type === undefined || type === "Bot";
  return async ({ user, author }) => {
    const by = user ?? author;
    if (by === undefined) return true;
    asked ??= ownerOf(forge);
    const id = (await asked)?.id;
    return id === undefined ? isBot(by) : by.id === id;
  };
}

/** Returns the owner of the token; undefined if the forge refuses to tell. */
async function ownerOf(forge: Forge): Promise<Partial<Author> | null | undefined> {
  try {
    return (await call(forge, "GET", forge.me)) as Partial<Author> | null;
  } catch (error) {
    if (error instanceof ForgeError && [401, 403, 404].includes(error.status ?? 0)) return undefined;
    throw error;
  }
}

async function find(
  forge: Forge,
  marker: string,
  isOwn: (comment: Comment) => Promise<boolean>,
): Promise<Comment | undefined> {
  for (let page = 1; page <= MOST_PAGES; page++) {
    const comments = await call(forge, "GET", `${forge.comments}?per_page=${PAGE}&page=${page}`);
    if (!Array.isArray(comments)) throw requestError("GET", forge.comments, "its answer is no list of comments");
    for (const comment of comments as (Comment | null)[]) {
      if (typeof comment?.body !== "string" || !comment.body.startsWith(marker)) continue;
      if (await isOwn(comment)) return comment;
    }
    if (comments.length < PAGE) return undefined;
  }
  throw requestError(
    "GET",
    forge.comments,
    `it has more than ${MOST_PAGES * PAGE} comments, or gives the same ones again`,
  );
}

/**
 * Uses Node's own fetch instead of a forge's client. A redirection must not carry the token to another host; GitLab's client allows that
 * and can't be told not to. The API's address is the one that the pipeline names, with whatever path it has.
 */
async function call({ headers }: Forge, method: string, url: string, body?: object): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: { ...headers, "content-type": "application/json", "user-agent": "rabbitmq-delay" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // Following a redirection would carry the token to another host, and turn a POST into a GET.
      redirect: "manual",
    });
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    throw requestError(method, url, cause?.message ?? message);
  }
  const { ok, status } = response;
  if (!ok) throw requestError(method, url, `HTTP ${status}${redirection(response)}`, status);
  try {
    return await response.json();
  } catch {
    throw requestError(method, url, "its answer is not JSON");
  }
}

/** Where a redirection leads, to help users who gave a wrong API address. */
function redirection({ status, headers }: Response): string {
  const location = headers.get("location");
  return status < 300 || status > 399 || location === null ? "" : `, a redirection to ${shownAddress(location)}`;
}

/** A request to a forge that failed. */
class ForgeError extends CommandError {
  /** @param status the HTTP status; undefined if there was no answer, or an unreadable one */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(exitCodes.outOfReach, message);
  }
}

/** Makes the error of a failed request. An address may have a token in it, and the failure quotes the address. */
function requestError(method: string, url: string, why: string, status?: number): ForgeError {
  return new ForgeError(withoutSecrets(`${method} ${url}: ${why}`, secretsOf()), status);
}

function requireVariable(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined || value === "") throw new CommandError(exitCodes.badInput, `${name} is not set`);
  return value;
}

function checkNumber(text: string | undefined): string {
  if (text === undefined || !/^\d+$/.test(text)) {
    throw new CommandError(exitCodes.badInput, "--request: give the number of the pull or merge request");
  }
  return text;
}
