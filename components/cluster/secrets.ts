import * as pulumi from "@pulumi/pulumi";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { ClusterMode } from "../enums";
import { generated } from "../generated";
import { defaultUserConf } from "./brokerConfig";
import { Secret, metadata } from "./manifest";
import { clusterPorts, serviceHost } from "./places";
import type { ClusterShape } from "./shape";
import { secretNames } from "./statefulSet";

/** A cluster's secrets, given or generated once and kept in the stack's state, encrypted. */
export interface ClusterSecrets {
  password: pulumi.Output<string>;
  /** Undefined for the operator, which makes its own. */
  erlangCookie: pulumi.Output<string> | undefined;
}

/** What a program may give. */
export interface GivenSecrets {
  password?: pulumi.Input<string>;
  erlangCookie?: pulumi.Input<string>;
}

/**
 * Null is refused, too: it comes of a secret that was not found, which is not the wish for a generated one.
 * @throws DelayTopologyError for what is known when the program runs and refused
 */
export function checkGivenSecrets({ password, erlangCookie }: GivenSecrets): void {
  for (const [property, secret] of Object.entries<unknown>({ password, erlangCookie })) {
    if (secret !== null) continue;
    throw new DelayTopologyError(property, secret, "it must be a secret, or left out for a generated one");
  }
  if (typeof password === "string") checkPassword(password);
  if (typeof erlangCookie === "string") checkCookie(erlangCookie);
}

/** The secrets that were given, checked when they are known, or generated ones. */
export function clusterSecrets(
  name: string,
  { mode }: Pick<ClusterShape, "mode">,
  { password, erlangCookie }: GivenSecrets,
  options: pulumi.CustomResourceOptions,
): ClusterSecrets {
  const cookie = (): pulumi.Output<string> =>
    erlangCookie === undefined ? generated(`${name}-cookie`, options) : whenKnown(erlangCookie, checkCookie);
  return {
    password: password === undefined ? generated(`${name}-password`, options) : whenKnown(password, checkPassword),
    erlangCookie: mode === ClusterMode.Operator ? undefined : cookie(),
  };
}

function whenKnown(value: pulumi.Input<string>, check: (value: string) => string): pulumi.Output<string> {
  return pulumi.secret(pulumi.output(value).apply(check));
}

/** The administrator, as the broker reads it and as services of the specification “service binding” do. */
export function defaultUserManifest(shape: ClusterShape, password: pulumi.Output<string>): Secret {
  const { port } = clusterPorts(shape).amqp;
  const { username } = shape;
  return {
    kind: "Secret",
    metadata: metadata(shape, secretNames(shape).defaultUser),
    type: "Opaque",
    stringData: {
      username,
      password,
      "default_user.conf": password.apply((value) => defaultUserConf(username, value)),
      provider: "rabbitmq",
      type: "rabbitmq",
      host: serviceHost(shape),
      port: String(port),
    },
  };
}

/** What the nodes know each other by. */
export function erlangCookieManifest(shape: ClusterShape, cookie: pulumi.Output<string>): Secret {
  return {
    kind: "Secret",
    metadata: metadata(shape, secretNames(shape).erlangCookie),
    type: "Opaque",
    stringData: { ".erlang.cookie": cookie },
  };
}

/** What a password has to be, so that neither rabbitmq.conf nor a URL changes it. */
function checkPassword(value: string): string {
  return checkSecret(
    "password",
    value,
    /^[A-Za-z0-9._~-]{16,200}$/,
    "it must have 16 to 200 letters, digits and . _ ~ -",
  );
}

/** What a cookie has to be, so that Erlang takes it. */
function checkCookie(value: string): string {
  return checkSecret("erlangCookie", value, /^[A-Za-z0-9]{20,200}$/, "it must have 20 to 200 letters and digits");
}

/** A secret itself is in no message. */
function checkSecret(property: string, value: string, rule: RegExp, allowed: string): string {
  if (typeof value === "string" && rule.test(value)) return value;
  throw new DelayTopologyError(property, `${String(value ?? "").length} characters`, allowed);
}
