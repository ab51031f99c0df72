import {
  BrokerLine,
  FaultKind,
  Mechanism,
  RetryWay,
  brokerLines,
  faultKinds,
  mechanisms,
  retryWays,
} from "./plan/types";

/** How a run of the gauntlet is told what to do. */
export interface RunOptions {
  /** The first round's seed; each further round has the next one. */
  seed: number;
  /** No round begins after that. */
  minutes: number;
  /** Rounds at the most. */
  rounds: number;
  only?: Mechanism[];
  faults?: FaultKind[];
  ways?: RetryWay[];
  broker?: BrokerLine;
  /** How long a failure's plan is made smaller, in seconds. */
  shrinkSeconds: number;
  /** How long after the last fault everything has to be through, in seconds. */
  boundSeconds: number;
  /** Where a report is written, as Markdown. */
  report?: string;
  /** A file with a plan that is run instead of drawn ones. */
  plan?: string;
  /** Whether further rounds are run after a failure. */
  keepGoing: boolean;
  /** Whether plans on RabbitMQ 4 are declared with no delivery limit. */
  liftedLimits: boolean;
}

/** Which flags there are. */
export const usage = `--seed N          first round's seed; further rounds have the next ones (default: by the time)
--minutes N       no round begins after that (default 5)
--rounds N        rounds at the most
--only LIST       of ${mechanisms.join(", ")}
--faults LIST     of ${faultKinds.join(", ")}, or none
--ways LIST       of ${retryWays.join(", ")}
--broker LINE     ${brokerLines.join(" or ")}
--bound N         seconds after the last fault by which all has to be through (default 120)
--shrink N        seconds in which a failure is made smaller (default 120)
--keep-going      go on after a failure
--no-lifted-limits   leave RabbitMQ 4's delivery limit on queues that plans declare
--plan FILE       run the plan in a file
--report FILE     write what was done as Markdown`;

/** @throws Error for what is none of them */
export function readOptions(args: string[], nowMs: number): RunOptions {
  const options: RunOptions = {
    seed: Math.floor(nowMs / 1000) % 1_000_000_000,
    minutes: 5,
    rounds: Number.POSITIVE_INFINITY,
    shrinkSeconds: 120,
    boundSeconds: 120,
    keepGoing: false,
    liftedLimits: true,
  };
  const left = [...args];
  for (let flag = left.shift(); flag !== undefined; flag = left.shift()) {
    const value = (): string => {
      const given = left.shift();
      if (given === undefined || given === "") throw new Error(`${flag} needs a value`);
      return given;
    };
    switch (flag) {
      case "--seed":
        options.seed = wholeNumber(flag, value());
        break;
      case "--minutes":
        options.minutes = positive(flag, value());
        break;
      case "--rounds":
        options.rounds = wholeNumber(flag, value());
        break;
      case "--only":
        options.only = listOf(flag, value(), mechanisms);
        break;
      case "--faults":
        options.faults = faultsOf(flag, value());
        break;
      case "--ways":
        options.ways = listOf(flag, value(), retryWays);
        break;
      case "--broker":
        options.broker = listOf(flag, value(), brokerLines)[0];
        break;
      case "--bound":
        options.boundSeconds = positive(flag, value());
        break;
      case "--shrink":
        options.shrinkSeconds = wholeNumber(flag, value());
        break;
      case "--keep-going":
        options.keepGoing = true;
        break;
      case "--no-lifted-limits":
        options.liftedLimits = false;
        break;
      case "--plan":
        options.plan = value();
        break;
      case "--report":
        options.report = value();
        break;
      default:
        throw new Error(`${flag} is none of the flags:\n${usage}`);
    }
  }
  return options;
}

function faultsOf(flag: string, text: string): FaultKind[] {
  return text === "none" ? [] : listOf(flag, text, faultKinds);
}

function listOf<T extends string>(flag: string, text: string, allowed: readonly T[]): T[] {
  return text.split(",").map((one) => {
    if ((allowed as readonly string[]).includes(one)) return one as T;
    throw new Error(`${flag}: ${one} is not allowed; it must be one of ${allowed.join(", ")}`);
  });
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`${flag}: ${text} is not allowed; it must be a whole number from 0`);
}

function positive(flag: string, text: string): number {
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new Error(`${flag}: ${text} is not allowed; it must be a number over 0`);
}
