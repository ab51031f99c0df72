import type { z } from "zod";
import { textLike } from "../schema/fields";
import { HOST } from "./hostName";

/** Form of the name of a Secret, an issuer, and most other objects of Kubernetes. */
const OBJECT = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const STORAGE_CLASS = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const SECRET_KEY = /^[-._A-Za-z0-9]{1,253}$/;
/** Shorter than Kubernetes' own rule: suffixes, and the ordinal of a pod, must fit behind. */
const CLUSTER = /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/;
/** Without a protocol, or a login as of an address; `@` stands before a digest alone. */
const IMAGE = /^(?!.*:\/\/)(?!.*@(?!sha256:))\S+:[^\s/]+$/;

/** The name of an object of Kubernetes; `allowed` ends the sentence of a refusal. */
export function objectName(allowed = "it must name an object of Kubernetes"): z.ZodString {
  return textLike(OBJECT, allowed);
}

/** The name of a namespace. */
export function namespaceName(): z.ZodString {
  return textLike(NAMESPACE, "it must be the name of a Kubernetes namespace");
}

/** The name of a StorageClass. */
export function storageClassName(): z.ZodString {
  return textLike(STORAGE_CLASS, "it must name a StorageClass; kubectl get storageclass lists them");
}

/** A key in a Secret. */
export function secretKey(): z.ZodString {
  return textLike(SECRET_KEY, "it must be a key of a Secret, of letters, digits and - . _");
}

/** The name of a cluster. */
export function clusterName(): z.ZodString {
  return textLike(
    CLUSTER,
    "it must have 1 to 40 characters, lower-case letters, digits and -, and start with a letter",
  );
}

/** The name of a host. */
export function hostName(): z.ZodString {
  return textLike(HOST, "it must be a host name");
}

/** An image. */
export function taggedImage(): z.ZodString {
  return textLike(IMAGE, "it must be an image with a tag");
}
