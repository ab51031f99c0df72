import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { isAtLeast } from "@rabbitmq-delay/topology/stack";
import type { VersionNeed } from "@rabbitmq-delay/broker";

/** The newest release that this package is tested with; at-least-once dead-lettering wants 4.3.5 or newer. */
export const DEFAULT_IMAGE = "rabbitmq:4.3.6";

/** The first release whose nodes find each other in a StatefulSet without asking Kubernetes. */
const OLDEST_VERSION = "4.1";

/**
 * The version of RabbitMQ in an image, by its tag.
 * @throws DelayTopologyError for an image without a version, or with one that is too old
 */
export function imageVersion(image: string): string {
  const tag = /^[^\s@]+:([^:/@]+)(@sha256:[0-9a-f]{64})?$/.exec(image)?.[1];
  const version = /^v?(\d+\.\d+(?:\.\d+)?)(?:[-+].*)?$/.exec(tag ?? "")?.[1];
  if (version === undefined) {
    throw new DelayTopologyError(
      "image",
      image,
      "it must end with a tag of RabbitMQ's version, e.g. rabbitmq:4.3.6; others change under a running cluster",
    );
  }
  if (!isAtLeast(version, OLDEST_VERSION)) {
    throw new DelayTopologyError("image", image, `it must be RabbitMQ ${OLDEST_VERSION} or newer`);
  }
  return version;
}

/**
 * Whether a cluster of an image can do what is going to be declared on it.
 * @param image default: the one of `RabbitMqCluster`
 * @returns the version of RabbitMQ in it
 * @throws DelayTopologyError that says what needs which version
 */
export function checkImage(image: string | undefined, needs: readonly VersionNeed[]): string {
  const version = imageVersion(image ?? DEFAULT_IMAGE);
  const unmet = needs.find((need) => !isAtLeast(version, need.version));
  if (unmet === undefined) return version;
  throw new DelayTopologyError("image", image ?? DEFAULT_IMAGE, `${unmet.reason} needs ${unmet.version} or newer`);
}
