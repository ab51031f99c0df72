/** One line of the sidebar. */
export interface SidebarItem {
  text: string;
  /** The page's path in the project, with an anchor where a part of the page is meant. */
  page: string;
}

/** A part of the sidebar. */
export interface SidebarGroup {
  text: string;
  items: SidebarItem[];
}

/** Name of the sidebar's part for edge cases, limits and faults: pages to look things up in, which may be long. */
export const LIMITS = "Limits and edge cases";

/** The sidebar, by what a reader wants to do. Each page of the project is in it, but for the sample reviews. */
export const sidebar: SidebarGroup[] = [
  {
    text: "Begin",
    items: [
      { text: "How it works", page: "docs/concept.md" },
      { text: "Quick start", page: "docs/start.md" },
      { text: "Exact matching", page: "docs/matching.md" },
      { text: "Comparison", page: "docs/comparison.md" },
    ],
  },
  {
    text: "Delay a message",
    items: [
      { text: "From TypeScript", page: "docs/typescript.md" },
      { text: "From Python", page: "clients/python/README.md" },
      { text: "From Go", page: "clients/go/README.md" },
      { text: "From Java", page: "clients/java/README.md" },
      { text: "From .NET", page: "clients/dotnet/README.md" },
      { text: "From any other language", page: "docs/key.md" },
      { text: "Hold it, without a stack", page: "docs/holds.md" },
      { text: "Any x-delay: the gateway", page: "docs/gateway.md" },
      { text: "List and cancel: the store", page: "docs/store.md" },
    ],
  },
  { text: "Retry what fails", items: [{ text: "Five ways to retry", page: "docs/retries.md" }] },
  {
    text: "Come from something else",
    items: [
      { text: "The delayed-message plugin", page: "docs/from-the-plugin.md" },
      { text: "NServiceBus", page: "docs/nservicebus.md" },
      { text: "MassTransit", page: "docs/masstransit.md" },
      { text: "Celery", page: "docs/celery.md" },
      { text: "Adopt what a broker has", page: "docs/adopt.md" },
    ],
  },
  {
    text: "Run it",
    items: [
      { text: "Several environments", page: "docs/environments.md" },
      { text: "From one network to the next", page: "docs/network-change.md" },
      { text: "A service's own stack", page: "docs/services.md" },
      { text: "Stacks in other languages", page: "docs/languages.md" },
      { text: "A stack in Python", page: "docs/stack-in-python.md" },
      { text: "A stack in Go", page: "docs/stack-in-go.md" },
      { text: "A stack in YAML", page: "docs/stack-in-yaml.md" },
      { text: "A stack in C#", page: "docs/stack-in-csharp.md" },
      { text: "A cluster on Kubernetes", page: "docs/kubernetes.md" },
      { text: "Check a broker", page: "docs/check.md" },
      { text: "Review a change", page: "docs/reviews.md" },
      { text: "Operate a store", page: "docs/store-operation.md" },
      { text: "Operate a cluster", page: "docs/kubernetes-operations.md" },
      { text: "Upgrade a broker", page: "docs/upgrade-broker.md" },
      { text: "Upgrade from 0.1.0", page: "docs/upgrade.md" },
    ],
  },
  {
    text: "What it promises",
    items: [
      { text: "If a node dies", page: "docs/concept.md#what-happens-on-failure" },
      { text: "Reliability", page: "docs/reliability.md" },
      { text: "Performance", page: "docs/performance.md" },
    ],
  },
  {
    text: LIMITS,
    items: [
      { text: "Delay networks", page: "docs/network-limits.md" },
      { text: "Delivery limits", page: "docs/delivery-limits.md" },
      { text: "Names and their owners", page: "docs/names.md" },
      { text: "Preflight", page: "docs/preflight.md" },
      { text: "Retries", page: "docs/retries-limits.md" },
      { text: "Holds", page: "docs/holds-limits.md" },
      { text: "Delayed exchanges", page: "docs/from-the-plugin-limits.md" },
      { text: "NServiceBus and other tools", page: "docs/nservicebus-limits.md" },
      { text: "Celery", page: "docs/celery-limits.md" },
      { text: "Gateways", page: "docs/gateway-limits.md" },
      { text: "Messages of a store", page: "docs/store-messages.md" },
      { text: "Stores", page: "docs/store-limits.md" },
      { text: "What a review looks at", page: "docs/review-rules.md" },
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "Config of a stack", page: "docs/config.md" },
      { text: "A service's stack, whole", page: "docs/service-on-kubernetes.md" },
      { text: "The command", page: "docs/command.md" },
      { text: "Verbs and options", page: "docs/reference/command.md" },
      { text: "Components", page: "docs/reference/components.md" },
      { text: "Packages", page: "docs/reference/packages.md" },
    ],
  },
  {
    text: "Work on it",
    items: [
      { text: "Architecture", page: "docs/architecture.md" },
      { text: "Contributing", page: "CONTRIBUTING.md" },
    ],
  },
];
