/** Level queues of every preset, and of every custom network, by their names. */
export const LEVELS = String.raw`.*[.-]level-[0-9]+(-[0-9]+)?|.*_delayed_[0-9]+|celery_delayed_[0-9]+`;
/** Queues of what no binding took. */
const PARKED = String.raw`.*[._-]parking`;
const AT_LEAST_ONCE = 'dead_letter_strategy="at_least_once"';

/** One query of a panel, and how its lines are called. */
interface Query {
  expr: string;
  legend: string;
}

interface Panel {
  title: string;
  description: string;
  unit: string;
  queries: Query[];
  /** `stat` shows the last value alone. */
  type?: "timeseries" | "stat";
  stacked?: boolean;
}

/**
 * A Grafana dashboard of delay networks from RabbitMQ's own metrics: what waits at which level, what is late, what is parked.
 * The broker has no clock for one message; what has expired and was not yet taken by its next queue is what is late now, and
 * by Little's law, divided by the rate, the mean lateness of a step.
 */
export function networkDashboard(): Record<string, unknown> {
  const panels: Panel[] = [
    {
      title: "Waiting",
      description: "Messages in level queues",
      unit: "short",
      type: "stat",
      queries: [{ expr: sum(messages(LEVELS)), legend: "waiting" }],
    },
    {
      title: "Parked",
      description: "Messages that no endpoint's binding took; somebody should look at them",
      unit: "short",
      type: "stat",
      queries: [{ expr: sum(messages(PARKED)), legend: "parked" }],
    },
    {
      title: "Late now",
      description: "Expired, and not yet taken by the next queue",
      unit: "short",
      type: "stat",
      queries: [{ expr: late(), legend: "late" }],
    },
    {
      title: "Nodes",
      description: "Nodes that answer",
      unit: "short",
      type: "stat",
      queries: [{ expr: "count(rabbitmq_identity_info)", legend: "nodes" }],
    },
    {
      title: "Waiting, by level",
      description: "Each level queue; the highest levels hold the longest delays",
      unit: "short",
      stacked: true,
      queries: [{ expr: `sum by (queue) (${messages(LEVELS)})`, legend: "{{queue}}" }],
    },
    {
      title: "Mean lateness of a step",
      description:
        "What is late, divided by the rate at which it moves on; a message takes a step for each level of its delay",
      unit: "s",
      queries: [{ expr: `${late()} / clamp_min(${sum(rate("confirmed"))}, 0.001)`, legend: "a step" }],
    },
    {
      title: "Steps",
      description: "Messages that expired in a level queue, and those that the next queue confirmed",
      unit: "ops",
      queries: [
        { expr: sum(rate("expired")), legend: "expired" },
        { expr: sum(rate("confirmed")), legend: "confirmed" },
      ],
    },
    {
      title: "Memory below the watermark",
      description: "At 0 a node takes no more messages",
      unit: "bytes",
      queries: [
        {
          expr: "rabbitmq_resident_memory_limit_bytes - rabbitmq_process_resident_memory_bytes",
          legend: "{{instance}}",
        },
      ],
    },
    {
      title: "Disk above the limit",
      description: "At 0 a node takes no more messages",
      unit: "bytes",
      queries: [
        {
          expr: "rabbitmq_disk_space_available_bytes - rabbitmq_disk_space_available_limit_bytes",
          legend: "{{instance}}",
        },
      ],
    },
  ];
  return {
    title: "Delay networks",
    uid: "rabbitmq-delay-networks",
    schemaVersion: 39,
    version: 1,
    editable: true,
    tags: ["rabbitmq"],
    time: { from: "now-1h", to: "now" },
    refresh: "30s",
    templating: {
      list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Data source" }],
    },
    panels: arrange(panels),
  };
}

function messages(queues: string): string {
  return `rabbitmq_detailed_queue_messages{queue=~"${queues.replaceAll("\\", "\\\\")}"}`;
}

function counter(event: "expired" | "confirmed"): string {
  return `rabbitmq_global_messages_dead_lettered_${event}_total{${AT_LEAST_ONCE}}`;
}

function rate(event: "expired" | "confirmed"): string {
  return `rate(${counter(event)}[2m])`;
}

function sum(expression: string): string {
  return `sum(${expression})`;
}

function late(): string {
  return `(${sum(counter("expired"))} - ${sum(counter("confirmed"))})`;
}

/** Single values in a row of four, then two graphs a row, of Grafana's 24 columns. */
function arrange(panels: Panel[]): Record<string, unknown>[] {
  const stats = panels.filter(({ type }) => type === "stat").length;
  const datasource = { type: "prometheus", uid: "${datasource}" };
  return panels.map(({ title, description, unit, queries, type = "timeseries", stacked }, index) => {
    const graph = index - stats;
    const gridPos =
      type === "stat"
        ? { x: index * 6, y: 0, w: 6, h: 4 }
        : { x: (graph % 2) * 12, y: 4 + Math.floor(graph / 2) * 8, w: 12, h: 8 };
    const custom = stacked ? { stacking: { mode: "normal" }, fillOpacity: 30 } : { fillOpacity: 10 };
    return {
      id: index + 1,
      type,
      title,
      description,
      datasource,
      gridPos,
      fieldConfig: { defaults: { unit, min: 0, ...(type === "stat" ? {} : { custom }) }, overrides: [] },
      targets: queries.map(({ expr, legend }, query) => ({
        expr,
        legendFormat: legend,
        refId: String.fromCharCode(65 + query),
        datasource,
      })),
    };
  });
}
