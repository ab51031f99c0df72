// A review: takes a preview's JSON and gives findings and a verdict.
export { PreviewError } from "./errors";
export { Preview, parsePreview } from "./preview/preview";
export { plannedEndpoints } from "./preview/planBroker";
export { parseUrn } from "./preview/urn";
export { BrokerAnswers } from "./broker/brokerAnswers";
export { Finding } from "./judge/finding";
export { Acceptance, Review, ReviewOptions, reviewOf } from "./review";
export { Verdict, verdicts } from "./verdict";

// Its report.
export { renderHtml } from "./report/html";
export { marker, olderMarker, renderMarkdown } from "./report/markdown";

// Keeps secrets of the environment and the preview out of what a command prints.
export { secretsIn, secretsOf, withoutSecrets } from "./redact";
