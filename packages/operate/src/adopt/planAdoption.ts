import { areStatisticsOff } from "@rabbitmq-delay/broker";
import { DelayTopologyError, parkingPolicy, planRetry, workRetry } from "@rabbitmq-delay/topology";
import {
  StackPlan,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  errorQueuesOf as failedQueuesOf,
  judgePolicies,
  limitingPreset,
  networkLimitPolicies,
  planStack,
  readStackConfig,
} from "@rabbitmq-delay/topology/stack";
import { AdoptedConfig, configOf } from "./adoptedConfig";
import { errorQueuesOf } from "./endpointClient";
import { findEndpoints } from "./foundEndpoints";
import { findNetworks } from "./foundNetworks";
import { FoundRetries, findRetries } from "./foundRetries";
import { LiveContent, LiveVhost } from "./liveVhost";
import { AdoptionRemark, Unplaced, differs, leftOut, note } from "./remark";

/** What would adopt a vhost's networks. */
export interface Adoption {
  vhost: string;
  /** The config of the stack. */
  config: AdoptedConfig;
  /** Whether nothing was found that a stack could adopt. */
  isEmpty: boolean;
  /** What has to be said of it; there is something to mend where one `differs`. */
  remarks: AdoptionRemark[];
}

/** Finds the networks of a vhost, their endpoints, and queues for retries, and makes the config of a stack that declares all of it. */
export function planAdoption(vhost: string, content: LiveContent): Adoption {
  const live = new LiveVhost(content);
  const found = findNetworks(live);
  const retries = findRetries(live);
  const networks = found.networks.map((network) => findEndpoints(network, live));
  const endpoints = networks.flatMap((network) => network.endpoints);
  const retryQueues = retries.workQueues.flatMap((options) => planRetry(workRetry(options)).queues);
  const names = new Set([...endpoints, ...retryQueues].map(({ name }) => name));
  const errorQueues = errorQueuesOf(endpoints, names, live);
  const { config, remarks } = configOf(vhost, networks, retries, errorQueues);
  const isEmpty = networks.length === 0 && retries.workQueues.length === 0 && retries.intervals === undefined;
  const general = [
    ...found.remarks,
    ...retries.remarks,
    ...unjoined(config, retries),
    ...silence(content),
    ...(isEmpty ? [] : refusalOf(config, vhost, live)),
  ].map((remark): AdoptionRemark => ({ ...remark, place: [] }));
  return { vhost, config, isEmpty, remarks: inOrder([...general, ...remarks, ...unknownOf(config)]) };
}

/** What is to mend comes first. */
function inOrder(remarks: readonly AdoptionRemark[]): AdoptionRemark[] {
  return (["differs", "left out", "note"] as const).flatMap((kind) => remarks.filter((remark) => remark.kind === kind));
}

/** Whether nobody can tell of consumers. */
function silence({ queues }: LiveContent): Unplaced[] {
  if (!areStatisticsOff({ queues })) return [];
  const message =
    "the broker's statistics are switched off (management.disable_stats), so that nobody can tell whether something consumes a queue in " +
    "which messages wait";
  return [note(message)];
}

/** Queues that get messages back, and that no endpoint of the config has. */
function unjoined({ endpoints = [] }: AdoptedConfig, { intervals, retried }: FoundRetries): Unplaced[] {
  const isTaken = new Set(endpoints.filter(({ retries }) => retries).map(({ name }) => name));
  return retried
    .filter((name) => !isTaken.has(name))
    .map((name) =>
      leftOut(
        `queue ${name} gets its failed messages back from ${intervals?.descriptor.returnExchange}, and is no endpoint here; that binding ` +
          `stays with its service`,
      ),
    );
}

/** What the program would refuse, as a vhost with a name that the provider can't read, or a policy by which messages are lost. */
function refusalOf(config: AdoptedConfig, vhost: string, live: LiveVhost): Unplaced[] {
  try {
    const plan = planStack(readStackConfig({ ...config }), vhost);
    return judgeOthers(plan, live);
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    return [differs(`a stack would refuse this config: ${error.message}`)];
  }
}

/** Policies of others that apply to what the stack would have. */
function judgeOthers(plan: StackPlan, { content }: LiveVhost): Unplaced[] {
  const { networks, parts, created } = plan;
  const all = [...parts, ...created].map(({ entities }) => entities);
  const shapes = networks.networks.map(({ network }) => network);
  const ways = { brokerVersion: content.version };
  const others = parts.filter(({ place }) => networks.networks.every((one) => one.place !== place));
  const queues = all.flatMap((one) => one.queues);
  const findings = judgePolicies(
    {
      exchanges: all.flatMap(({ exchanges }) => exchanges),
      queues,
      policies: [
        ...shapes.flatMap((network) => [parkingPolicy(network), ...networkLimitPolicies(network, ways)]),
        ...deliveryLimitPolicies(
          others.flatMap(({ entities }) => entities.queues),
          ways,
        ),
        ...created.flatMap(({ endpoint, entities }) =>
          entities.queues.flatMap((queue) =>
            endpointLimitPolicies(queue, limitingPreset(networks.joinedBy(endpoint)), {
              ...ways,
              queuePolicy: endpoint.queuePolicy,
            }),
          ),
        ),
      ].filter((policy) => policy !== undefined),
      endpointQueues: created.flatMap(({ entities }) => entities.queues.map(({ name }) => name)),
      errorQueues: failedQueuesOf(plan),
    },
    content.policies,
  );
  return findings.map(({ severity, message }) => (severity === "error" ? differs(message) : note(message)));
}

/** What no broker tells. */
function unknownOf({ current, workQueues = [] }: AdoptedConfig): AdoptionRemark[] {
  const publishers = "which network publishers use stands on no broker; see whether it is this one";
  const tries =
    "how often a message may come back stands on no broker; give it as maxRetries, unless it is once for each delay";
  return [
    ...(current === undefined ? [] : [{ ...note(publishers), place: ["current"] }]),
    ...workQueues.map((_, index) => ({ ...note(tries), place: ["workQueues", index] })),
  ];
}
