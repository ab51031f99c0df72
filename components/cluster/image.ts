import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { DEFAULT_IMAGE, imageVersion, isAtLeast } from "@rabbitmq-delay/topology/stack";
import type { VersionNeed } from "@rabbitmq-delay/broker";

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
