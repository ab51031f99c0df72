import { DelayTopologyError } from "../errors";
import { isAtLeast } from "../version";

/** The newest release that this package is tested with; at-least-once dead-lettering wants 4.3.5 or newer. */
export const DEFAULT_IMAGE = "rabbitmq:4.3.6";

/** The first release whose nodes find each other in a StatefulSet without asking Kubernetes. */
const OLDEST_VERSION = "4.1";

/**
 * The version of RabbitMQ in an image, by its tag.
 * @throws DelayTopologyError for an image without a version, or with one that is too old
 */
export function imageVersion(image: unknown, property = "image"): string {
  const tag = /^[^\s@]+:([^:/@]+)(@sha256:[0-9a-f]{64})?$/.exec(String(image))?.[1];
  const version = /^v?(\d+\.\d+(?:\.\d+)?)(?:[-+].*)?$/.exec(tag ?? "")?.[1];
  if (typeof image !== "string" || version === undefined) {
    throw new DelayTopologyError(
      property,
      image,
      "it must end with a tag of RabbitMQ's version, e.g. rabbitmq:4.3.6; others change under a running cluster",
    );
  }
  if (!isAtLeast(version, OLDEST_VERSION)) {
    throw new DelayTopologyError(property, image, `it must be RabbitMQ ${OLDEST_VERSION} or newer`);
  }
  return version;
}
