import { ForeignObject, metadata } from "./manifest";
import type { ClusterShape } from "./shape";

/** A certificate that cert-manager makes and renews; the broker reads a renewed one by itself. */
export function certificateManifest(shape: ClusterShape, tls: NonNullable<ClusterShape["tls"]>): ForeignObject {
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: metadata(shape, tls.secretName),
    spec: {
      secretName: tls.secretName,
      dnsNames: tls.dnsNames,
      usages: ["server auth", "client auth"],
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: { group: "cert-manager.io", ...tls.issuer },
    },
  };
}
