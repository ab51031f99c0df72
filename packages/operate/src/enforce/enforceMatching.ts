import { setTimeout as pause } from "node:timers/promises";
import { BrokerCheckError, ManagementApi, ManagementApiError } from "@rabbitmq-delay/broker";
import { BindingPlan, DelayNetwork, levelQueueName } from "@rabbitmq-delay/topology";
import { managementWayOut } from "@rabbitmq-delay/topology/stack";
import { DrainParts, drainQueue } from "./drainQueue";
import { EnforceError } from "./enforceError";
import { LiveMatching, readLiveMatching } from "./liveMatching";
import { MatchingChange, planMatchingChange } from "./matchingChange";
import { isStillNext, planAllSteps, planSteps } from "./planSteps";
import type { Step } from "./step";
import { Requests, isForbidden, isRefusal, told, untilAnswered } from "./requests";
import { checkStepRights } from "./stepRights";
import { StuckMessages, findStuck } from "./stuckMessages";
import { until } from "./until";

/** How a change of a live network's matching is made. */
export interface EnforceOptions {
  /** Whether exact matching shall no longer be enforced; default false. */
  undo?: boolean;
  /** Whether the steps are only planned; default false. */
  dryRun?: boolean;
  /** Told of each step before it is made, so that somebody who stops the change knows where it stands. */
  onStep?: (step: Step) => void;
  /** Told of messages that no queue takes, and that keep a queue from running empty; the change goes on once they are out. */
  onStuck?: (message: string) => void;
  /**
   * How long a queue may take until it is empty or takes messages, in milliseconds; default 600,000, because a broker sends a dead letter
   * once more after three minutes, if the next queue did not confirm it.
   */
  timeoutMs?: number;
}

/** What a change came to. */
export interface EnforceResult {
  /** The network as it is now, or, of a dry run, as it would be: the descriptor for publishers and for other stacks. */
  network: DelayNetwork;
  /** What was done, in its order; of a dry run, what would be. */
  steps: Step[];
  /** Messages that no queue takes, because of which a run refuses to begin; of a dry run alone. */
  stuck: StuckMessages[];
}

/** How long a policy that is there may take until it applies. */
const APPLY_MS = 5000;
/** How long a broker may take until it counts a new queue, in milliseconds; it counts every 5 s. */
const COUNTED_MS = 20_000;
/** How long a run may be held up between two steps, in milliseconds, until it plans anew: another one may have gone on. */
const HELD_UP_MS = 30_000;
/** How long a cluster's other nodes may take until they know a policy, or a queue that was just declared. */
const SPREAD_MS = 2000;

/**
 * Lets a live network enforce exact matching, or no longer, while messages go through it: none is lost, doubled or early. Messages pass by
 * a queue beside level 0's while that one is declared anew. A run that ends before its end leaves a network that works, and another run
 * goes on where it ended.
 * @param api the broker's, of a user with the tag `policymaker` who may configure, write and read the network's entities
 * @param network in either state; its vhost is the one that is changed
 * @throws DelayTopologyError for a network whose matching can't be enforced, or that is not on the broker in one of the two forms
 * @throws BrokerCheckError if the user lacks a right that one of the steps needs; nothing was made then
 * @throws EnforceError if the broker refuses a step, or a queue does not run empty
 */
export async function enforceMatching(
  api: ManagementApi,
  network: DelayNetwork & { vhost: string },
  options: EnforceOptions = {},
): Promise<EnforceResult> {
  const change = planMatchingChange(network, options.undo);
  const { vhost } = network;
  const read = (): Promise<LiveMatching> =>
    told(
      "the vhost can't be read",
      untilAnswered(() => readLiveMatching(api, vhost)).catch((error: unknown) => {
        if (!(error instanceof ManagementApiError) || !isRefusal(error) || isForbidden(error)) throw error;
        const wayOut = managementWayOut(api.managementUrl, "look at its name, and at the rights of the user");
        throw new EnforceError(
          `there is no vhost ${vhost} at ${api.managementUrl}, or the user may not use it (HTTP ${error.status}); ${wayOut}`,
        );
      }),
    );
  const live = await read();
  const all = planAllSteps(change, live);
  const requests = new Requests(api);
  // A change that has begun is better off at its end, and waits for such messages there.
  const isBegun = live.policies.some(({ name }) => name === change.fallback.name);
  const isLooked = all.some(({ do: what }) => what === "drain-queue") && (options.dryRun === true || !isBegun);
  const stuck = isLooked
    ? await told("the queues' messages can't be read", findStuck(requests, encodeURIComponent(vhost), change))
    : [];
  if (options.dryRun === true) return { network: { ...change.network, vhost }, steps: all, stuck };
  const [first] = stuck;
  if (first !== undefined) throw new EnforceError(first.message);
  if (all.length > 0) await told("the user's rights can't be checked", checkStepRights(api, vhost, all, change, live));
  const steps = planSteps(change, live);
  const runner = new Runner(requests, vhost, change, options.timeoutMs ?? 600_000, options.onStuck);
  for (let round = 1, left = steps; left.length > 0; round++) {
    // An endpoint may have been bound meanwhile; what is there at the end is what counts.
    if (round > MOST_ROUNDS) throw new EnforceError(`there is still something to do after ${MOST_ROUNDS} rounds`);
    let sinceMs = Date.now();
    for (const step of left) {
      options.onStep?.(step);
      const isNext = async (): Promise<boolean> => isStillNext(step, change, await read());
      // What was waited for before may hold no longer.
      if (!(await isNext()) || Date.now() - sinceMs > HELD_UP_MS) break;
      if (!(await runner.run(step, isNext))) break;
      sinceMs = Date.now();
    }
    const seen = await read();
    left = planSteps(change, seen);
    // Endpoints that appeared meanwhile bring steps of their own.
    if (left.length > 0) {
      const check = checkStepRights(api, vhost, left, change, seen).catch(asMidway);
      await told("the user's rights can't be checked", check);
    }
    steps.push(...left);
  }
  return { network: { ...change.network, vhost }, steps, stuck: [] };
}

/** @throws EnforceError in place of an error that says that nothing was made */
function asMidway(error: unknown): never {
  if (!(error instanceof BrokerCheckError)) throw error;
  throw new EnforceError(error.message.replace(/^broker\.username: |; nothing was made/g, ""));
}

/** Each round does what appeared in the one before, such as the endpoints of a deploy, or what is left of it after another run's steps. */
const MOST_ROUNDS = 100;

/** What the broker shows of a queue. */
interface QueueState {
  state?: string;
  messages?: number;
  policy?: string;
  operator_policy?: string;
  effective_policy_definition?: Record<string, unknown>;
}

/** Makes steps by the management API. */
class Runner implements DrainParts {
  /** The vhost, as a path has it. */
  readonly at: string;

  constructor(
    readonly requests: Requests,
    vhost: string,
    readonly change: MatchingChange,
    readonly timeoutMs: number,
    readonly onStuck: (message: string) => void = () => undefined,
  ) {
    this.at = encodeURIComponent(vhost);
  }

  /**
   * Makes a step.
   * @param isNext whether it is still the next one, asked once more where something was waited for before it is made
   * @returns whether it was made
   */
  async run(step: Step, isNext: () => Promise<boolean>): Promise<boolean> {
    if (step.do === "delete-policy") {
      // The bindings that take its place have to be known everywhere.
      await pause(SPREAD_MS);
      const sinceMs = Date.now();
      // Whoever was stopped meanwhile knows nothing of what another run has done.
      if (!(await isNext()) || Date.now() - sinceMs > HELD_UP_MS) return false;
    }
    await this.make(step);
    return true;
  }

  private async make(step: Step): Promise<void> {
    switch (step.do) {
      case "declare-exchange":
        return this.send("PUT", `exchanges/${this.at}/${encodeURIComponent(step.exchange)}`, {
          type: "topic",
          durable: true,
        });
      case "delete-exchange":
        return this.send("DELETE", `exchanges/${this.at}/${encodeURIComponent(step.exchange)}`);
      case "declare-queue": {
        const { name, durable, arguments: values } = step.queue;
        return this.send("PUT", `queues/${this.at}/${encodeURIComponent(name)}`, { durable, arguments: values });
      }
      case "bind": {
        const { routingKey } = step.binding;
        return this.send("POST", this.bindingsOf(step.binding), { routing_key: routingKey });
      }
      case "unbind":
        return this.unbind(step.binding);
      case "set-policy": {
        const { name, pattern, applyTo, priority, definition } = step.policy;
        const body = { pattern, "apply-to": applyTo, priority, definition };
        await this.send("PUT", `policies/${this.at}/${encodeURIComponent(name)}`, body);
        // A queue that is declared while its policy is set may stay without it.
        return pause(SPREAD_MS);
      }
      case "delete-policy":
        return this.send("DELETE", `policies/${this.at}/${encodeURIComponent(step.policy)}`);
      case "await-policy":
        return this.awaitPolicy(step.exchange, step.policy);
      case "await-ready":
        return this.awaitReady(step.queue, step.policy);
      case "drain-queue":
        return drainQueue(step.queue, this);
    }
  }

  private bindingsOf({ source, destination, destinationType }: BindingPlan): string {
    const [from, to] = [source, destination].map(encodeURIComponent);
    return `bindings/${this.at}/e/${from}/${destinationType === "queue" ? "q" : "e"}/${to}`;
  }

  /** A binding is deleted by a key of the broker's own, which it tells. */
  private async unbind(binding: BindingPlan): Promise<void> {
    const sinceMs = Date.now();
    const path = this.bindingsOf(binding);
    const found = await told(
      `the bindings of ${binding.source} can't be read`,
      this.requests.get<{ routing_key: string; properties_key: string }[]>(path),
    );
    // Whoever was stopped since the last look knows nothing of what another run has done.
    if (Date.now() - sinceMs > HELD_UP_MS) throw new EnforceError("this run was held up; run it again");
    for (const one of found.filter(({ routing_key: key }) => key === binding.routingKey)) {
      await this.send("DELETE", `${path}/${encodeURIComponent(one.properties_key)}`);
    }
  }

  private async awaitPolicy(exchange: string, policy: string): Promise<void> {
    const what = `exchange ${exchange} has the policy ${policy}`;
    await this.untilApplied(what, policy, async () => {
      const found = await this.requests.get<{ policy?: string }>(
        `exchanges/${this.at}/${encodeURIComponent(exchange)}`,
      );
      return found.policy === policy;
    });
    await pause(SPREAD_MS);
  }

  private async awaitReady(queue: string, policy: string | undefined): Promise<void> {
    await this.untilRunning(queue);
    if (policy !== undefined) {
      await this.untilApplied(`queue ${queue} has the policy ${policy}`, policy, async () => {
        const found = await this.queue(queue);
        if (found.policy !== policy) return false;
        await this.checkOperatorPolicy(queue, found);
        return true;
      });
    }
    await pause(SPREAD_MS);
  }

  /**
   * Looks until a queue runs. A broker that is cut off while it declares a quorum queue may keep one that never runs, has no count, and holds
   * up each policy that is set in its vhost (3.10.8, on a busy machine: 3 of 240 connections that ended within 300 ms); it is declared anew.
   */
  private async untilRunning(queue: string): Promise<void> {
    let sinceMs = Date.now();
    await until(`queue ${queue} is running`, this.timeoutMs, async () => {
      const { state, messages } = await this.queue(queue);
      if (state === "running") return true;
      if (state !== undefined || messages !== undefined) sinceMs = Date.now();
      if (Date.now() - sinceMs > COUNTED_MS) {
        await this.declareAnew(queue);
        sinceMs = Date.now();
      }
      return false;
    });
  }

  /** Deletes a queue that the broker never counted, and declares it again, unless a message may have come to it. */
  private async declareAnew(queue: string): Promise<void> {
    const { change } = this;
    const plan = [change.queue, change.detour.queue, change.otherDetour.queue].find(({ name }) => name === queue);
    if (plan === undefined || (await this.isBound(queue))) return;
    await this.send("DELETE", `queues/${this.at}/${encodeURIComponent(queue)}`);
    await this.make({ do: "declare-queue", queue: plan });
  }

  private async isBound(queue: string): Promise<boolean> {
    const found = await this.requests.get<{ source: string }[]>(
      `queues/${this.at}/${encodeURIComponent(queue)}/bindings`,
    );
    return found.some(({ source }) => source !== "");
  }

  private queue(name: string): Promise<QueueState> {
    return this.requests.get<QueueState>(`queues/${this.at}/${encodeURIComponent(name)}`);
  }

  /**
   * An operator's policy applies beside any other, and could drop or hurry what passes the detour.
   * @throws EnforceError for one that does not apply to the network's other queues in the same way
   */
  private async checkOperatorPolicy(queue: string, found: QueueState): Promise<void> {
    const beside = await this.queue(levelQueueName(this.change.network, 1, 1));
    const [own, usual] = [found, beside].map((one) => one.effective_policy_definition ?? {});
    const key = Object.keys(own ?? {}).find((one) => one !== "overflow" && own?.[one] !== usual?.[one]);
    if (key === undefined) return;
    throw new EnforceError(
      `the operator policy ${found.operator_policy ?? "of the vhost"} sets ${key} on queue ${queue}, by which messages go meanwhile, and not on ` +
        `the network's other queues; change its pattern, and run this again`,
    );
  }

  /**
   * Looks until something holds that a policy makes. A broker that is cut off while it sets a policy has it, and applies it to nothing, for
   * good (3.10.8 and 4.3.6: a connection that ends 1 to 4 ms after the request); it looks again only when the policy changes.
   */
  private async untilApplied(what: string, policy: string | undefined, holds: () => Promise<boolean>): Promise<void> {
    let sinceMs = Date.now();
    await until(what, this.timeoutMs, async () => {
      if (await holds()) return true;
      if (policy !== undefined && Date.now() - sinceMs > APPLY_MS) {
        await this.applyAgain(policy);
        sinceMs = Date.now();
      }
      return false;
    });
  }

  /** Gives a policy another priority, and the former one again. */
  private async applyAgain(policy: string): Promise<void> {
    const path = `policies/${this.at}/${encodeURIComponent(policy)}`;
    const found = await this.requests.find<{ priority: number } & Record<string, unknown>>(path);
    if (found === undefined) throw new EnforceError(`somebody deleted the policy ${policy} meanwhile; run this again`);
    const { priority, ...rest } = found;
    const body = { pattern: rest.pattern, "apply-to": rest["apply-to"], definition: rest.definition };
    for (const changed of [priority + 1, priority]) await this.send("PUT", path, { ...body, priority: changed });
  }

  private send(method: "PUT" | "POST" | "DELETE", path: string, body?: unknown): Promise<void> {
    return this.requests.send(method, path, body);
  }
}
