import { ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pWaitFor from "p-wait-for";
import type { KubernetesPrograms } from "./kubernetesPrograms";
import { freePort } from "./ports";
import { run } from "./run";

/** A private control plane of Kubernetes on loopback: it accepts objects and makes pods from them, but runs no pod. */
export interface ControlPlane {
  programs: KubernetesPrograms;
  folder: string;
  /** For kubectl and for plugins. */
  kubeconfig: string;
  processes: ChildProcess[];
}

const START_TIMEOUT_MS = 240_000;
const TOKEN = "administrator-of-a-private-control-plane";

/** Starts etcd, the API server and the controller manager, and waits until they answer. */
export async function startControlPlane(programs: KubernetesPrograms): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-kubernetes-"));
  const [etcd, peer, api] = [await freePort(), await freePort(), await freePort()];
  const plane: ControlPlane = { programs, folder, kubeconfig: join(folder, "kubeconfig"), processes: [] };
  try {
    writeFileSync(plane.kubeconfig, kubeconfigOf(api));
    writeFileSync(join(folder, "tokens.csv"), `${TOKEN},admin,admin,system:masters\n`);
    const key = join(folder, "service-account.key");
    await run("openssl", ["genrsa", "-out", key, "2048"]);
    launch(plane, programs.etcd, [
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=http://127.0.0.1:${etcd}`,
      `--advertise-client-urls=http://127.0.0.1:${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      "--unsafe-no-fsync",
    ]);
    launch(plane, programs.apiserver, [
      `--etcd-servers=http://127.0.0.1:${etcd}`,
      `--secure-port=${api}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--cert-dir=${join(folder, "certificates")}`,
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--token-auth-file=${join(folder, "tokens.csv")}`,
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--disable-admission-plugins=ServiceAccount",
    ]);
    await until(plane, () => kubectl(plane, ["get", "--raw", "/readyz"]));
    launch(plane, programs.controllerManager, [
      `--kubeconfig=${plane.kubeconfig}`,
      "--leader-elect=false",
      `--service-account-private-key-file=${key}`,
      `--secure-port=${await freePort()}`,
      "--bind-address=127.0.0.1",
    ]);
    return plane;
  } catch (error) {
    await stopControlPlane(plane);
    throw error;
  }
}

/** Teaches the control plane the kinds that operators bring. */
export async function installDefinitions(plane: ControlPlane): Promise<void> {
  await kubectl(plane, ["apply", "--server-side", "-f", plane.programs.definitions]);
  // A kind is served only a moment after its definition was accepted.
  await until(plane, () =>
    kubectl(plane, ["get", "rabbitmqclusters,certificates,servicemonitors", "--all-namespaces"]),
  );
}

/** Starts RabbitMQ's operator beside the control plane. */
export async function startOperator(plane: ControlPlane): Promise<void> {
  const namespace = "rabbitmq-system";
  await kubectl(plane, ["create", "namespace", namespace]);
  const env = { ...process.env, KUBECONFIG: plane.kubeconfig, OPERATOR_NAMESPACE: namespace };
  launch(plane, plane.programs.operator, [`--metrics-bind-address=127.0.0.1:${await freePort()}`], env);
}

/** Runs kubectl; returns what it prints. @throws Error when the server refuses */
export function kubectl({ programs, kubeconfig, folder }: ControlPlane, args: string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: folder };
  return run(programs.kubectl, ["--cache-dir", join(folder, "cache"), ...args], { env });
}

/** Stops all of its processes and removes its files. */
export async function stopControlPlane({ processes, folder }: ControlPlane): Promise<void> {
  for (const child of processes.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}

function launch(plane: ControlPlane, program: string, args: string[], env = process.env): void {
  const name = program.split("/").at(-1) as string;
  mkdirSync(join(plane.folder, "logs"), { recursive: true });
  const log = openSync(join(plane.folder, "logs", name), "a");
  const child = spawn(program, args, { cwd: plane.folder, env, stdio: ["ignore", log, log] });
  child.on("error", () => undefined);
  closeSync(log);
  plane.processes.push(child);
}

async function until({ processes, folder }: ControlPlane, works: () => Promise<unknown>): Promise<void> {
  let failure: Error | undefined;
  const refuse = (ended?: string): never => {
    const name = (ended ?? "kube-apiserver").split("/").at(-1) as string;
    const log = readFileSync(join(folder, "logs", name), "utf8").trim();
    const end = log.split("\n").slice(-5).join("\n");
    throw new Error(`the control plane does not start (${failure?.message}); the end of the log of ${name}:\n${end}`);
  };
  const isReached = async (): Promise<boolean> => {
    failure = await works().then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (failure === undefined) return true;
    const ended = processes.find(({ exitCode }) => exitCode !== null)?.spawnfile;
    return ended === undefined ? false : refuse(ended);
  };
  await pWaitFor(isReached, { interval: 100, timeout: { milliseconds: START_TIMEOUT_MS, fallback: () => refuse() } });
}

/** The server generates its certificate at its start, for a port that nobody else knows. */
function kubeconfigOf(port: number): string {
  const server = { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "private", cluster: server }],
    users: [{ name: "admin", user: { token: TOKEN } }],
    contexts: [{ name: "private", context: { cluster: "private", user: "admin" } }],
    "current-context": "private",
  });
}
