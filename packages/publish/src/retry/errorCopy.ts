import type { ConfirmedSender } from "../confirmedSender";
import { MessageRefusedError } from "../errors";
import type { MessageProperties } from "../options";
import type { SendableProperties } from "../sendable";
import { copyProperties } from "./envelope";
import { Failure, errorHeaders, failureHeaders } from "./failure";

/** The most characters of names in the header that says what a copy lacks. */
const OMITTED_CHARACTERS = 500;

/**
 * The properties of a copy for the error queue. A message may have values that another client library can send and this one can't, or
 * headers that leave no room for the reason. It must get there nevertheless, without what can't be sent, and says what that was.
 */
export function errorCopy(sender: ConfirmedSender, queue: string, failure: Failure): SendableProperties {
  const { message } = failure;
  const why = failureHeaders(queue, failure);
  const copyOf = (properties: MessageProperties, omitted: string[]): SendableProperties => {
    const more = omitted.length === 0 ? {} : { [errorHeaders.omitted]: joinNames(omitted) };
    return sender.toSendable(copyProperties({ ...message, properties }, message.redeliveries, { ...why, ...more }));
  };
  const canBeSent = (properties: MessageProperties): boolean => !isRefused(() => sender.toSendable(properties));
  const whole = unlessRefused(() => copyOf(message.properties, []));
  if (whole !== undefined) return whole;

  const { headers = {}, ...others } = message.properties;
  const [kept, odd] = partition(Object.entries(others), ([name, value]) => canBeSent({ [name]: value }));
  const [keptHeaders, oddHeaders] = partition(Object.entries(headers), ([name, value]) =>
    canBeSent({ headers: Object.fromEntries([[name, value]]) }),
  );
  const omitted = [...odd.map(([name]) => name), ...oddHeaders.map(([name]) => `headers.${name}`)];
  const smallFirst = keptHeaders.sort(([, one], [, other]) => sizeOf(one) - sizeOf(other));
  // Leave out twice as many each time, because there may be thousands of small ones.
  for (let leftOut = 0; ; leftOut = Math.max(1, leftOut * 2)) {
    const [fit, large] = [smallFirst.slice(0, smallFirst.length - leftOut), smallFirst.slice(-leftOut || Infinity)];
    const properties = { ...Object.fromEntries(kept), headers: Object.fromEntries(fit) };
    const names = [...omitted, ...large.map(([name]) => `headers.${name}`)];
    const copy = unlessRefused(() => copyOf(properties, names));
    if (copy !== undefined) return copy;
    if (leftOut >= smallFirst.length) break;
  }
  const { messageId } = message.properties;
  return copyOf(canBeSent({ messageId }) ? { messageId } : {}, ["all properties"]);
}

function joinNames(names: string[]): string {
  const text = names.join(", ");
  return text.length <= OMITTED_CHARACTERS ? text : `${text.slice(0, OMITTED_CHARACTERS)} …`;
}

function unlessRefused<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof MessageRefusedError) return undefined;
    throw error;
  }
}

function isRefused(make: () => unknown): boolean {
  return unlessRefused(() => [make()]) === undefined;
}

function partition<T>(list: T[], isFirst: (entry: T) => boolean): [T[], T[]] {
  return [list.filter(isFirst), list.filter((entry) => !isFirst(entry))];
}

/** A rough size, to find the largest. */
function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
