import { showText } from "../address";
import type { ListedMessage, MessagePage } from "../delayedMessageStore";
import { StoreMismatchError } from "../errors";

/** Most messages of one page. */
export const LARGEST_PAGE = 1000;
/** Messages of a page whose number nobody says. */
export const DEFAULT_PAGE = 100;

/** @throws StoreMismatchError for a page of no or too many messages */
export function checkLimit(limit = DEFAULT_PAGE): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE) {
    throw new StoreMismatchError(
      "limit",
      `${limit} is not allowed; it must be a whole number from 1 to ${LARGEST_PAGE}`,
    );
  }
  return limit;
}

/** The limit of JavaScript's dates, in milliseconds. */
const LARGEST_TIME_MS = 8.64e15;
/** The limit of 64 bits. */
const LARGEST_ID = 2n ** 63n - 1n;

/** The last message of a page, after which the next one starts. */
export interface Cursor {
  attemptAt: Date;
  id: string;
}

/** @throws StoreMismatchError for a text that is not a page's `next` */
export function parseCursor(text: string): Cursor {
  const [, time, id] = /^(-?\d{1,16})-(\d{1,19})$/.exec(text) ?? [];
  const isPossible = Math.abs(Number(time)) <= LARGEST_TIME_MS && BigInt(id ?? 0) <= LARGEST_ID;
  if (time === undefined || id === undefined || !isPossible) {
    throw new StoreMismatchError("after", `${showText(text)} is not allowed; it must be next of the page before`);
  }
  return { attemptAt: new Date(Number(time)), id };
}

/** @param rows one more than `limit` if there is a next page */
export function toPage(rows: ListedMessage[], limit: number): MessagePage {
  const messages = rows.slice(0, limit);
  const last = messages.at(-1);
  if (rows.length <= limit || last === undefined) return { messages };
  return { messages, next: `${last.attemptAt.getTime()}-${last.id}` };
}
