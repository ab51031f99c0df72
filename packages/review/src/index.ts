// A review: a preview's JSON in, findings and a verdict out.
export { PreviewError } from "./errors";
export { Preview, parsePreview } from "./preview/preview";
export { plannedEndpoints } from "./preview/planBroker";
export { parseUrn } from "./preview/urn";
export { BrokerAnswers } from "./broker/brokerAnswers";
export { Finding } from "./judge/findings";
export { Acceptance, Review, ReviewOptions, reviewOf } from "./review";
export { Verdict, verdicts } from "./verdict";

// Its report.
export { renderHtml } from "./report/html";
export { marker, renderMarkdown } from "./report/markdown";

// No secret of the environment or the preview gets into what a command prints.
export { secretsIn, secretsOf, withoutSecrets } from "./redact";
