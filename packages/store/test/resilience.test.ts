import { strict as assert } from "node:assert";
import { mock } from "node:test";
import { Breaker, BreakerName, FrequentFailures, LastingFailures, SteadyClock } from "@rabbitmq-delay/store/testing";
import { watchConsumer } from "../dist/resilience/breaker";
import { Pace } from "../dist/resilience/pace";
import { Alarm } from "../dist/dispatch/alarm";

describe("breakers", () => {
  let nowMs: number;
  let heard: string[];
  const elapsed = (): number => nowMs;
  const events = {
    onTriggered: (name: BreakerName, error: unknown): void => void heard.push(`${name} ${(error as Error).message}`),
    onRecovered: (name: BreakerName): void => void heard.push(`${name} recovered`),
  };
  const fail = (breaker: Breaker): Promise<void> =>
    assert.rejects(
      breaker.execute(() => Promise.reject(new Error("no"))),
      /^Error: no$/,
    );

  beforeEach(() => {
    nowMs = 0;
    heard = [];
  });

  it("LastingFailures triggers once when there was nothing but failures for its time, and recovers with a success", async () => {
    const breaker = new Breaker("fetch", new LastingFailures(30_000, elapsed), events);
    for (nowMs = 0; nowMs < 30_000; nowMs += 5000) await fail(breaker);
    await breaker.execute(async () => undefined);
    for (nowMs = 40_000; nowMs < 70_000; nowMs += 5000) await fail(breaker);
    assert.deepEqual([heard, breaker.isTriggered], [[], false]);
    await fail(breaker);
    await fail(breaker);
    await fail(breaker);
    assert.deepEqual([heard, breaker.isTriggered], [["fetch no"], true]);
    await breaker.execute(async () => undefined);
    assert.deepEqual([heard, breaker.isTriggered], [["fetch no", "fetch recovered"], false]);
    await fail(breaker);
    assert.equal(breaker.isTriggered, false, "and starts anew");
  });

  it("FrequentFailures triggers at more than its rate over half a minute, successes between them or not", async () => {
    const breaker = new Breaker("recovery", new FrequentFailures(1, elapsed), events);
    for (let count = 0; count < 90; count++) {
      nowMs += 1000;
      await fail(breaker);
      await breaker.execute(async () => undefined);
    }
    assert.deepEqual(heard, []);
    nowMs += 500;
    await fail(breaker);
    assert.deepEqual(heard, ["recovery no"]);
  });
});

describe("a breaker's state", () => {
  let isTooMany: boolean;
  let heard: string[];
  let breaker: Breaker;
  beforeEach(() => {
    isTooMany = false;
    heard = [];
    const rule = { recordSuccess: () => undefined, recordFailure: () => isTooMany };
    breaker = new Breaker("store", rule, {
      onTriggered: (name, error) => void heard.push(`${name} ${(error as Error).message}`),
      onRecovered: (name) => void heard.push(`${name} recovered`),
    });
  });

  /** Work that ends when it is told to. */
  function begin(): { succeed: () => Promise<void>; fail: (message: string) => Promise<void>; state: () => string } {
    let [resolve, reject]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
    const done = breaker.execute(
      () =>
        new Promise<void>((settle, refuse) => {
          [resolve, reject] = [settle, refuse];
        }),
    );
    return {
      state: () => breaker.state,
      succeed: () => (resolve(), done),
      fail: (message) => (reject(new Error(message)), assert.rejects(done, new RegExp(`^Error: ${message}$`))),
    };
  }

  it("is closed while failures are not too many, and open from the one that is", async () => {
    await begin().fail("first");
    assert.deepEqual([breaker.state, breaker.isTriggered, heard], ["closed", false, []]);
    isTooMany = true;
    await begin().fail("second");
    assert.deepEqual([breaker.state, breaker.isTriggered, heard], ["open", true, ["store second"]]);
  });

  it("is half-open during a try, then open again without a word, or closed", async () => {
    isTooMany = true;
    await begin().fail("first");
    isTooMany = false;
    const second = begin();
    assert.deepEqual([breaker.state, breaker.isTriggered], ["half-open", true]);
    await second.fail("second");
    assert.deepEqual([breaker.state, heard], ["open", ["store first"]], "whatever the rule says of a try's failure");
    const third = begin();
    assert.equal(breaker.state, "half-open");
    await third.succeed();
    assert.deepEqual([breaker.state, heard], ["closed", ["store first", "store recovered"]]);
    isTooMany = true;
    await begin().fail("fourth");
    assert.deepEqual(heard.slice(2), ["store fourth"], "and triggers anew");
  });

  it("takes no success for a recovery that began before it triggered", async () => {
    const before = begin();
    isTooMany = true;
    await begin().fail("no");
    await before.succeed();
    assert.deepEqual([breaker.state, heard], ["open", ["store no"]]);
  });

  it("holds back nobody while something is tried, and one success of several is enough", async () => {
    isTooMany = true;
    await begin().fail("no");
    const [first, second] = [begin(), begin()];
    await second.succeed();
    assert.equal(breaker.state, "closed");
    isTooMany = false;
    await first.succeed();
    assert.deepEqual(heard, ["store no", "store recovered"]);
  });

  it("is told what work throws before it waits for anything", async () => {
    isTooMany = true;
    const work = (): Promise<void> => {
      throw new Error("at once");
    };
    await assert.rejects(breaker.execute(work), /^Error: at once$/);
    assert.deepEqual([breaker.state, heard], ["open", ["store at once"]]);
  });
});

describe("Pace", () => {
  it("doubles its pauses up to the longest, each with a random part, and begins anew after a success", () => {
    const pace = new Pace(1000);
    for (const round of ["first", "after a success"]) {
      for (const fullMs of [100, 200, 400, 800, 1000, 1000]) {
        const ms = pace.nextMs();
        assert.ok(ms >= fullMs / 2 && ms <= fullMs, `${round}: ${ms} of ${fullMs}`);
      }
      pace.reset();
    }
    const spread = new Set(Array.from({ length: 20 }, () => new Pace().nextMs()));
    assert.ok(spread.size > 1, "not all at the same moment");
    const long = new Pace();
    for (let failure = 0; failure < 5000; failure++) assert.ok(long.nextMs() <= 5000, "also after any number of them");
  });

  it("ends a pause at the signal", async () => {
    await new Pace().pauseAfterFailure(AbortSignal.abort());
  });
});

describe("SteadyClock", () => {
  let wallMs: number;
  let elapsedMs: number;
  const pass = (ms: number): void => {
    wallMs += ms;
    elapsedMs += ms;
  };
  let clock: SteadyClock;

  beforeEach(() => {
    wallMs = 1_000_000_000;
    elapsedMs = 5;
    clock = new SteadyClock(
      () => wallMs,
      () => elapsedMs,
    );
  });

  it("follows the wall clock, its small jumps, and jumps back", () => {
    pass(100);
    assert.equal(clock.now(), wallMs);
    wallMs += 60_000;
    assert.equal(clock.now(), wallMs);
    wallMs -= 10 * 3_600_000;
    assert.equal(clock.now(), wallMs);
    assert.equal(clock.isDoubted, false);
  });

  it("does not follow a jump ahead that is taken back", () => {
    const before = wallMs;
    wallMs += 3_600_000;
    for (let second = 0; second < 29; second++) {
      assert.equal(clock.now(), before + second * 1000);
      assert.equal(clock.isDoubted, true);
      pass(1000);
    }
    wallMs -= 3_600_000;
    assert.equal(clock.now(), before + 29_000);
    assert.equal(clock.isDoubted, false);
  });

  it("doubts a second jump ahead from then on, also while it doubts the first", () => {
    const before = wallMs;
    wallMs += 600_000;
    clock.now();
    pass(20_000);
    wallMs += 3_600_000;
    assert.equal(clock.now(), before + 20_000);
    pass(20_000);
    assert.equal(clock.now(), before + 40_000);
    wallMs -= 3_600_000;
    assert.equal(clock.now(), before + 40_000);
    pass(30_000);
    assert.equal(clock.now(), wallMs);
  });

  it("believes a jump ahead that lasts", () => {
    wallMs += 3_600_000;
    clock.now();
    pass(30_000);
    assert.equal(clock.now(), wallMs);
    pass(1000);
    assert.equal(clock.now(), wallMs);
  });
});

describe("SteadyClock, from which delays count", () => {
  let wallMs: number;
  let elapsedMs: number;
  let clock: SteadyClock;
  const pass = (ms: number): void => {
    wallMs += ms;
    elapsedMs += ms;
  };

  beforeEach(() => {
    wallMs = 1_000_000_000;
    elapsedMs = 5;
    clock = new SteadyClock(
      () => wallMs,
      () => elapsedMs,
    );
  });

  // A machine that wakes up: a delay of 15 minutes was over when the new time was believed, after half a minute.
  it("is the new time after a jump ahead that is not believed yet", () => {
    wallMs += 3_600_000;
    assert.equal(clock.forDelays(), wallMs);
    assert.equal(clock.now(), wallMs - 3_600_000);
    pass(30_000);
    assert.equal(clock.forDelays(), wallMs);
  });

  // A time server that is wrong for a moment: what came in meanwhile was due an hour early when the time was right again.
  it("is the former time for half a minute after a jump back", () => {
    wallMs -= 3_600_000;
    assert.equal(clock.forDelays(), wallMs + 3_600_000);
    pass(29_000);
    assert.equal(clock.forDelays(), wallMs + 3_600_000);
    wallMs -= 3_600_000;
    assert.equal(clock.forDelays(), wallMs + 7_200_000, "of several the latest");
    pass(30_000);
    assert.equal(clock.forDelays(), wallMs);
  });
});

describe("a watched consumer", () => {
  afterEach(() => mock.timers.reset());

  // One message that its handler fails with stopped all others, and the health was green whenever the consumer started again.
  it("has not recovered when it starts, where it failed with a batch in hand, but when it has handled one", async () => {
    const breaker = new Breaker("consume", new LastingFailures(0));
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const watched = watchConsumer(breaker);
    watched.onFault?.(new Error("no"), true);
    watched.onConsuming?.();
    await settled();
    assert.equal(breaker.isTriggered, true);
    watched.onHandled?.();
    await settled();
    assert.equal(breaker.isTriggered, false);
  });

  // A message with which the library fails before it delivers it stopped all others, and the health was green for the same reason.
  it("has recovered once it has consumed for a second, where nothing was in hand, and not if it fails before", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const breaker = new Breaker("consume", new LastingFailures(0));
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const watched = watchConsumer(breaker);
    for (let round = 0; round < 3; round++) {
      watched.onFault?.(new Error("no"), false);
      watched.onConsuming?.();
      mock.timers.tick(999);
      await settled();
      assert.equal(breaker.isTriggered, true);
    }
    mock.timers.tick(1);
    await settled();
    assert.equal(breaker.isTriggered, false);
  });

  // The second of two faults triggered it, hours after the first: it counted as failed all the while.
  it("has recovered where no batch comes after a failure with a batch in hand, and not while one is being handled", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const breaker = new Breaker("consume", new LastingFailures(0));
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const watched = watchConsumer(breaker);
    for (const isComing of [true, false]) {
      watched.onFault?.(new Error("no"), true);
      watched.onConsuming?.();
      mock.timers.tick(9999);
      if (isComing) watched.onBatch?.();
      mock.timers.tick(60_000);
      await settled();
      assert.equal(breaker.isTriggered, isComing);
    }
  });
});

describe("Alarm", () => {
  it("ends a sleep at the earliest call, also of one before it, and at the signal", async () => {
    const alarm = new Alarm();
    const ending = new AbortController();
    const sleep = (): Promise<void> => alarm.sleep(3_600_000, Date.now, ending.signal);
    alarm.call(Date.now() + 3_600_000);
    alarm.call(Date.now() - 1);
    await sleep();
    alarm.reset();
    const sleeping = sleep();
    alarm.call(Date.now() + 3_600_000);
    alarm.call(Date.now() + 20);
    await sleeping;
    alarm.reset();
    await alarm.sleep(10, Date.now, ending.signal);
    const last = sleep();
    ending.abort();
    await last;
    await sleep();
  });
});
