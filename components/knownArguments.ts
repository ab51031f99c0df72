import { checkKnown } from "rabbitmq-delay-topology";
import type { EndpointDelayBindingArgs } from "./endpointDelayBinding";
import type { EndpointUserArgs } from "./endpointUser";
import type { HoldDestinationArgs } from "./holdQueues";
import type { EndpointCredential } from "./logins";
import type { StoreDeploymentArgs } from "./store/deployment";

/** Every property of a type once; fails to compile when one is missing. */
export type Properties<T> = Record<keyof T, true>;

const binding: Properties<EndpointDelayBindingArgs> = {
  endpoint: true,
  topology: true,
  network: true,
  retryIntervals: true,
  endpointType: true,
  patterns: true,
  destination: true,
  createQueue: true,
  queueType: true,
  queueArguments: true,
  errorQueue: true,
  removal: true,
  owner: true,
  formerOwners: true,
  adopt: true,
  allow: true,
  vhost: true,
  brokerVersion: true,
};
const user: Properties<EndpointUserArgs> = {
  user: true,
  credentials: true,
  consumes: true,
  network: true,
  destinations: true,
  retries: true,
  publishes: true,
  errorQueue: true,
  owner: true,
  formerOwners: true,
  adopt: true,
  vhost: true,
};
const credential: Properties<EndpointCredential> = { suffix: true, password: true };
const holdDestination: Properties<HoldDestinationArgs> = { exchange: true, routingKey: true };
const deployment: Properties<StoreDeploymentArgs> = {
  namespace: true,
  image: true,
  amqpUrl: true,
  databaseSecret: true,
  databaseSecretKey: true,
  replicas: true,
  memoryMiB: true,
  caSecret: true,
};
const known = { binding, user, credential, holdDestination, deployment };

/**
 * Looks for arguments that nobody reads, in programs that no compiler checked: a misspelled `removal` is the default, and a misspelled
 * `password` a generated one.
 * @param what names a part of the arguments, for messages
 * @throws DelayTopologyError naming the first of them, and the known ones
 */
export function checkArguments(kind: keyof typeof known, args: unknown, what?: string): void {
  checkKnown(what ?? kind, args, Object.keys(known[kind]), what === undefined ? "" : `${what}.`);
}
