import { ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { BrokerInstallation } from "../../../toolchain/dist/broker";
import { run } from "../../../toolchain/dist/run";
import type { CapturedManifest } from "../capture";
import { PodNetwork, createNetwork, removeNetwork, setCable } from "./network";
import { ContainerSpec, PodSetSpec, environmentOf, filesOf, podSetSpec } from "./podSpec";

/** A pod that runs, or ran. */
interface Pod {
  ordinal: number;
  name: string;
  folder: string;
  child?: ChildProcess;
}

/** How long a broker may take to end after it was told to. */
const STOP_LIMIT_MS = 60_000;

/**
 * Runs a StatefulSet's pods on this machine, from the manifests alone: their commands, variables, users, volumes, read-only root file
 * system and probes, each in a network of its own under its own name. Only the image differs: it is a Debian with RabbitMQ, whose programs
 * are in other places.
 */
export class PodSet {
  private constructor(
    readonly spec: PodSetSpec,
    readonly network: PodNetwork,
    private readonly installation: BrokerInstallation,
    private readonly folder: string,
    private readonly pods: Pod[],
  ) {}

  /** @throws Error if this machine may not create networks, which root may */
  static async create(manifests: CapturedManifest[], installation: BrokerInstallation): Promise<PodSet> {
    const spec = podSetSpec(manifests);
    const folder = join("/srv", `rabbitmq-delay-pods-${randomUUID().slice(0, 8)}`);
    const network = await createNetwork(spec.replicas);
    const pods = Array.from({ length: spec.replicas }, (_, ordinal) => {
      const name = `${spec.name}-${ordinal}`;
      return { ordinal, name, folder: join(folder, name) };
    });
    const set = new PodSet(spec, network, installation, folder, pods);
    pods.forEach((pod) => set.fillVolumes(pod, manifests));
    return set;
  }

  addressOf(ordinal: number): string {
    return this.network.addressOf(ordinal);
  }

  /** Runs a pod's init containers to their end, and then its container. */
  async start(ordinal: number): Promise<void> {
    const pod = this.pod(ordinal);
    for (const container of this.spec.initContainers) {
      const code = await new Promise((resolve) => this.launch(pod, container).once("exit", resolve));
      if (code !== 0)
        throw new Error(`${container.name} of ${pod.name} ended with ${String(code)}:\n${this.log(ordinal)}`);
    }
    pod.child = this.launch(pod, this.spec.container);
  }

  /** Ends a pod as Kubernetes does: first the hook, then the signal. */
  async stop(ordinal: number): Promise<void> {
    const hook = this.spec.container.lifecycle?.preStop?.exec?.command;
    if (hook !== undefined) await this.exec(ordinal, hook);
    await this.end(ordinal, "SIGTERM");
  }

  /** Ends a pod as the loss of its machine would. */
  async kill(ordinal: number): Promise<void> {
    await this.end(ordinal, "SIGKILL");
  }

  cutOff(ordinal: number): Promise<string> {
    return setCable(this.network, ordinal, "down");
  }

  joinAgain(ordinal: number): Promise<string> {
    return setCable(this.network, ordinal, "up");
  }

  /** Runs a command in a running pod, like its probes; returns what it prints. */
  async exec(ordinal: number, command: string[]): Promise<string> {
    const pod = this.pod(ordinal);
    const init = this.initOf(pod);
    if (init === undefined) throw new Error(`${pod.name} does not run`);
    const inside = ["-t", String(init), "-m", "-u", "-n", "-p", "-r", "-w"];
    return run("nsenter", [...inside, ...this.commandLine(pod, this.spec.container, command)]);
  }

  /** The log of a pod. */
  log(ordinal: number): string {
    return readFileSync(join(this.pod(ordinal).folder, "log"), "utf8")
      .split("\n")
      .slice(-25)
      .join("\n");
  }

  isRunning(ordinal: number): boolean {
    const { child } = this.pod(ordinal);
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async remove(): Promise<void> {
    await Promise.all(this.pods.map(({ ordinal }) => this.kill(ordinal)));
    await removeNetwork(this.network, this.spec.replicas);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private pod(ordinal: number): Pod {
    const pod = this.pods[ordinal];
    if (pod === undefined) throw new Error(`there is no pod ${ordinal}`);
    return pod;
  }

  private async end(ordinal: number, signal: NodeJS.Signals): Promise<void> {
    const pod = this.pod(ordinal);
    const { child } = pod;
    if (child === undefined || !this.isRunning(ordinal)) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    // A pod that was just started may have no process of its own yet; then its parent takes it with it.
    const init = this.initOf(pod);
    if (init !== undefined) process.kill(init, signal);
    else child.kill("SIGKILL");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  }

  /** The first process inside a pod; it is the only child of the program that made the pod's namespaces. */
  private initOf({ child }: Pod): number | undefined {
    const file = `/proc/${child?.pid}/task/${child?.pid}/children`;
    const [first] = existsSync(file) ? readFileSync(file, "utf8").trim().split(" ") : [];
    return first === undefined || first === "" ? undefined : Number(first);
  }

  /** Fills volumes as the kubelet does: owned by the pod's group, with files of Secrets that only it may read. */
  private fillVolumes(pod: Pod, manifests: CapturedManifest[]): void {
    const { group, volumes, claims } = this.spec;
    mkdirSync(join(pod.folder, "root"), { recursive: true });
    for (const name of [...claims, ...volumes.map((volume) => volume.name)]) {
      const folder = join(pod.folder, name);
      mkdirSync(folder);
      chownSync(folder, 0, group);
      chmodSync(folder, 0o2775);
    }
    for (const volume of volumes) {
      const mode = volume.projected?.defaultMode ?? volume.secret?.defaultMode ?? 0o644;
      for (const [path, text] of filesOf(volume, manifests) ?? []) {
        const file = join(pod.folder, volume.name, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
        chownSync(file, 0, group);
        chmodSync(file, mode);
      }
    }
    writeFileSync(join(pod.folder, "hosts"), this.hosts(pod));
  }

  /** The names that Kubernetes' DNS would resolve. */
  private hosts({ name }: Pod): string {
    const { serviceName, namespace } = this.spec;
    const lines = this.pods.map((pod) => {
      const full = `${pod.name}.${serviceName}.${namespace}`;
      return `${this.addressOf(pod.ordinal)} ${full}.svc.cluster.local ${full}${pod.name === name ? ` ${name}` : ""}`;
    });
    return ["127.0.0.1 localhost", ...lines, ""].join("\n");
  }

  private launch(pod: Pod, container: ContainerSpec): ChildProcess {
    const root = join(pod.folder, "root");
    const mounts = container.volumeMounts.map(({ name, mountPath, readOnly = false }) => {
      // In a container's image, a missing mount folder is created.
      mkdirSync(join(this.installation.root, mountPath), { recursive: true });
      return `${join(pod.folder, name)} ${mountPath} ${readOnly ? "ro" : "rw"}`;
    });
    const isReadOnly = container.securityContext.readOnlyRootFilesystem === true;
    const script = `set -e
mount --bind "$IMAGE" "${root}"
${isReadOnly ? `mount -o remount,bind,ro "${root}"` : ""}
mount -t proc proc "${root}/proc"
mount --rbind /dev "${root}/dev"
mount --bind "${join(pod.folder, "hosts")}" "${root}/etc/hosts"
while read -r from to mode; do
  [ -n "$from" ] || continue
  mount --bind "$from" "${root}$to"
  [ "$mode" = rw ] || mount -o remount,bind,ro "${root}$to"
done <<'MOUNTS'
${mounts.join("\n")}
MOUNTS
hostname "${pod.name}"
exec chroot "${root}" "$@"`;
    const command = container.command ?? [this.installation.script];
    const isolated = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"];
    const log = openSync(join(pod.folder, "log"), "a");
    const child = spawn(
      "ip",
      [
        "netns",
        "exec",
        this.network.namespaceOf(pod.ordinal),
        ...isolated,
        ...this.commandLine(pod, container, command),
      ],
      { stdio: ["ignore", log, log], env: { PATH: process.env.PATH, IMAGE: this.installation.root } },
    );
    closeSync(log);
    return child;
  }

  /** A command under the pod's user, without any further right, and only with the container's variables. */
  private commandLine(pod: Pod, container: ContainerSpec, command: string[]): string[] {
    const { user, group, namespace } = this.spec;
    const values = {
      PATH: `${dirname(this.installation.script)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      // Variables that the image sets.
      LANG: "C.UTF-8",
      LC_ALL: "C.UTF-8",
      ...environmentOf(container, pod.name, namespace),
    };
    const least = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"];
    return [
      "setpriv",
      `--reuid=${user}`,
      `--regid=${group}`,
      `--groups=${group}`,
      ...least,
      "env",
      "-i",
      ...Object.entries(values).map(([key, value]) => `${key}=${value}`),
      ...command,
    ];
  }
}
