import * as pulumi from "@pulumi/pulumi";
import { checkClusterPassword, checkErlangCookie } from "@rabbitmq-delay/topology/stack";
import { ClusterMode } from "../enums";
import { generated } from "../generated";
import { checkedLater } from "../laterValues";
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

/** The secrets that were given, checked when they are known, or generated ones. */
export function clusterSecrets(
  name: string,
  { mode }: Pick<ClusterShape, "mode">,
  { password, erlangCookie }: GivenSecrets,
  options: pulumi.CustomResourceOptions,
): ClusterSecrets {
  const cookie = (): pulumi.Output<string> =>
    erlangCookie === undefined
      ? generated(`${name}-cookie`, options)
      : whenKnown("erlangCookie", erlangCookie, checkErlangCookie);
  return {
    password:
      password === undefined
        ? generated(`${name}-password`, options)
        : whenKnown("password", password, checkClusterPassword),
    erlangCookie: mode === ClusterMode.Operator ? undefined : cookie(),
  };
}

function whenKnown(
  property: string,
  value: pulumi.Input<string>,
  check: (property: string, value: unknown) => string,
): pulumi.Output<string> {
  return pulumi.secret(checkedLater(pulumi.secret(value), (known) => check(property, known)));
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
