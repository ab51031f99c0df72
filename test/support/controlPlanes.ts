import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { findKubernetesPlugins } from "../../toolchain/dist/kubernetesPlugins";
import { findKubernetes } from "../../toolchain/dist/kubernetesPrograms";
import {
  ControlPlane,
  installDefinitions,
  kubectl,
  startControlPlane,
  startOperator,
  stopControlPlane,
} from "../../toolchain/dist/controlPlane";
import { run } from "../../toolchain/dist/run";
import { afterThisTest } from "./cleanup";
import { installed, skipIfMissing } from "./missingPrograms";
import { ServerRegister } from "./servers";
import { temporaryFolder } from "./temporaryFolder";

/** A control plane as other processes get it: its own processes are given by number. */
type TestPlane = Omit<ControlPlane, "processes"> & { processIds: number[] };

const running = new ServerRegister<TestPlane>("control-planes", discard);

/**
 * Runs tests of the Kubernetes part on one control plane with the operators' kinds and RabbitMQ's operator; tests use different namespaces.
 */
export function onKubernetes(define: (plane: () => ControlPlane) => void): void {
  describe("on Kubernetes", function () {
    let plane: ControlPlane;
    before(async function () {
      try {
        plane = { ...(await running.shared("shared", start)), processes: [] };
      } catch (error) {
        skipIfMissing(this, error);
      }
    });
    define(() => plane);
  });
}

async function start(): Promise<TestPlane> {
  const { processes, ...plane } = await startControlPlane(await installed(() => findKubernetes(() => undefined)));
  const whole = { ...plane, processes };
  try {
    await installDefinitions(whole);
    await startOperator(whole);
  } catch (error) {
    await stopControlPlane(whole);
    throw error;
  }
  return { ...plane, processIds: processes.map(({ pid }) => pid as number) };
}

/** Creates a namespace for a test, in which pods need the security level `restricted`. */
export async function restrictedNamespace(plane: ControlPlane): Promise<string> {
  const name = `test-${randomUUID().slice(0, 8)}`;
  await kubectl(plane, ["create", "namespace", name]);
  await kubectl(plane, ["label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted"]);
  afterThisTest(async () => void (await kubectl(plane, ["delete", "namespace", name, "--wait=false"])));
  return name;
}

/** The plugins and the address that a stack needs to make objects on a control plane. */
export async function kubernetesOf({ kubeconfig }: ControlPlane): Promise<[string[], Record<string, string>]> {
  const { folders } = await findKubernetesPlugins(() => undefined);
  return [folders, { KUBECONFIG: kubeconfig }];
}

/** Creates a Secret as cert-manager would. */
export async function tlsSecret(plane: ControlPlane, namespace: string, name: string): Promise<void> {
  const folder = temporaryFolder();
  const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"];
  await run("openssl", [...request, "-keyout", key, "-out", certificate]);
  const files = [`--cert=${certificate}`, `--key=${key}`];
  await kubectl(plane, ["-n", namespace, "create", "secret", "tls", name, ...files]);
}

/** The objects of a kind that Kubernetes has in a namespace. */
export async function objects<T>(plane: ControlPlane, namespace: string, kind: string): Promise<T[]> {
  const list = await kubectl(plane, ["-n", namespace, "get", kind, "-o", "json"]);
  return (JSON.parse(list) as { items: T[] }).items;
}

const LIMIT_MS = 240_000;

/** Looks repeatedly until a condition is reached. @throws Error with what was last seen */
export async function until<T>(look: () => Promise<T>, isReached: (found: T) => boolean): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (isReached(found)) return found;
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(found).slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Stops the control plane that the tests shared. */
export function stopSharedControlPlane(): Promise<void> {
  return running.stopAll();
}

function discard({ processIds, folder }: TestPlane): Promise<void> {
  for (const processId of processIds) {
    try {
      process.kill(processId, "SIGKILL");
    } catch {
      // It has already ended.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return Promise.resolve();
}
