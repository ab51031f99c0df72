import { parsePreview, renderMarkdown, reviewOf } from "@rabbitmq-delay/review";
import { planBinding, planEntities, delayNetwork } from "@rabbitmq-delay/topology";
import { report } from "./statistics";

const RESOURCES = 5000;
const REPETITIONS = 9;
const parent = (name: string): string => `urn:pulumi:prod::shop::rabbitmq-delay:index:EndpointDelayBinding::${name}`;

/** A review of a large preview, against reading its JSON alone. */
export async function benchReview(): Promise<void> {
  const text = JSON.stringify({ steps: steps(), changeSummary: {} });
  const size = (text.length / 1024 / 1024).toFixed(1);
  console.log(
    `review of a preview of ${RESOURCES} resources (${size} MiB), ${REPETITIONS} repetitions (min / median / max)`,
  );
  const [parse, review, ratio]: [number[], number[], number[]] = [[], [], []];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const parseMs = await msOf(() => JSON.parse(text) as unknown);
    const reviewMs = await msOf(async () => {
      renderMarkdown(await reviewOf(parsePreview(text, "bench")), "prod");
    });
    parse.push(parseMs);
    review.push(reviewMs);
    ratio.push(reviewMs / parseMs);
  }
  report("JSON.parse", parse, "ms");
  report("review, from text to Markdown", review, "ms");
  report("ratio review / JSON.parse (aim at most 5)", ratio, "times");
  report("peak memory of the process so far", [process.resourceUsage().maxRSS / 1024], "MiB", 0);
}

async function msOf(body: () => unknown): Promise<number> {
  const start = process.hrtime.bigint();
  await body();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** A network of the real plan, and endpoints that leave it, join it or stay, each with what the engine prints beside. */
function steps(): object[] {
  const network = delayNetwork({ preset: "nservicebus" });
  const { queues, exchanges } = planEntities(network);
  const topology = "urn:pulumi:prod::shop::rabbitmq-delay:index:DelayLevelTopology::delay";
  const result = [
    ...exchanges.map(({ name, type }) =>
      stepOf(
        "same",
        "rabbitmq:index/exchange:Exchange",
        `delay-${name}`,
        { name, vhost: "/", settings: { type } },
        topology,
      ),
    ),
    ...queues.map(({ name, arguments: values }) =>
      stepOf(
        "same",
        "rabbitmq:index/queue:Queue",
        `delay-${name}`,
        { name, vhost: "/", settings: { argumentsJson: JSON.stringify(values) } },
        topology,
      ),
    ),
  ];
  for (let index = 0; result.length < RESOURCES; index++) {
    const name = `Endpoint${index}`;
    const op = ["same", "same", "create", "delete"][index % 4] as string;
    const [binding] = planBinding(network, { name }).bindings;
    result.push(
      stepOf(op, "rabbitmq-delay:index:EndpointDelayBinding", name, {}, "", false),
      stepOf(op, "rabbitmq:index/binding:Binding", `${name}-${name}`, { ...binding, vhost: "/" }, parent(name)),
      stepOf(
        op,
        "rabbitmq:index/queue:Queue",
        `${name}-${name}`,
        { name, vhost: "/", settings: { argumentsJson: '{"x-queue-type":"quorum"}' } },
        parent(name),
      ),
    );
  }
  return result;
}

function stepOf(op: string, type: string, name: string, inputs: object, owner: string, custom = true): object {
  const urn = `urn:pulumi:prod::shop::${owner === "" ? "" : `${owner.split("::")[2]}$`}${type}::${name}`;
  const frame = { sourcePosition: "project:///node_modules/@pulumi/pulumi/cmd/run/run.js#523,20" };
  const dependencies = Array.from({ length: 8 }, (_, index) => `${urn}-dependency-${index}`);
  const stackTrace = [frame, frame, frame, frame, frame, frame];
  const state = { urn, type, custom, parent: owner, inputs, outputs: inputs, dependencies, stackTrace };
  return {
    op,
    urn,
    ...(op === "create" ? {} : { oldState: state }),
    ...(op === "delete" ? {} : { newState: state }),
    detailedDiff: null,
  };
}
