import { strict as assert } from "node:assert";
import { Breaker, BreakerName, FrequentFailures, LastingFailures, SteadyClock } from "rabbitmq-delay-store";
import { watchConsumer } from "../dist/resilience/breaker";
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
    watched.onFault?.(new Error("no"), false);
    await settled();
    assert.equal(breaker.isTriggered, true);
    watched.onConsuming?.();
    await settled();
    assert.equal(breaker.isTriggered, false, "where nothing was in hand, nothing has to come");
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
