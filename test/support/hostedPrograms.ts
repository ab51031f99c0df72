import { ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import { recordRejection } from "./rejections";

// Each host runs one program at a time; a test that runs two at once gets two. With each stands the folder of its last program.
const idle = new Map<ChildProcess, string>();

/** A program that the engine can run. */
export interface HostedProgram {
  /** Where its host listens, for `pulumi --client`. */
  address: string;
  /** Gives the host back; returns what the program has written meanwhile. Rejects when the host has ended. */
  end(): Promise<string>;
}

/** Offers the program of a folder to the engine, in a process that runs others before and after. */
export async function hostProgram(folder: string): Promise<HostedProgram> {
  const host = takeIdle() ?? startHost();
  let written = "";
  const note = (data: Buffer): void => void (written += data.toString());
  for (const stream of [host.stdout, host.stderr]) stream?.on("data", note);
  host.channel?.ref();
  const heard = new AbortController();
  const answered = once(host, "message", heard) as Promise<[{ port?: number; error?: string }]>;
  const ended = once(host, "close", heard).then(() => failed(host, written));
  [answered, ended].forEach((one) => void one.catch(() => undefined));
  host.send({ folder });
  const [answer] = await Promise.race([answered, ended]).finally(() => heard.abort());
  host.channel?.unref();
  if (answer.port === undefined) throw new Error(`no program can be hosted: ${answer.error}`);
  return {
    address: `127.0.0.1:${answer.port}`,
    end: async () => {
      // Its last output may be on its way.
      if (!host.connected) failed(host, await isClosed(host).then(() => written));
      for (const stream of [host.stdout, host.stderr]) stream?.off("data", note);
      host.send({});
      idle.set(host, folder);
      return written;
    },
  };
}

/** Returns a host that runs no program; one that has ended is recorded as soon as that is known. */
function takeIdle(): ChildProcess | undefined {
  const host = [...idle.keys()].find(({ connected }) => connected);
  if (host !== undefined) idle.delete(host);
  return host;
}

async function isClosed(host: ChildProcess): Promise<void> {
  const isDone = (): boolean => host.stdout?.closed === true && host.stderr?.closed === true;
  if (!isDone()) await once(host, "close");
}

/** A user's process fails its run by what it rejects late. */
function failed({ exitCode, signalCode }: ChildProcess, what: string): never {
  throw new Error(`the process that hosts programs ended with ${exitCode ?? signalCode}: ${what}`);
}

function startHost(): ChildProcess {
  // What a developer's shell has for brokers is not a program's.
  const environment = Object.entries(process.env).filter(([name]) => !/^(RABBITMQ_(?!DELAY_TEST)|PULUMI)/.test(name));
  const host = fork(join(__dirname, "programHost.js"), {
    env: Object.fromEntries(environment),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  host.unref();
  host.on("exit", () => {
    const folder = idle.get(host);
    // A host that runs the next program already makes that one's run fail.
    if (idle.delete(host)) recordRejection(`the program in ${folder} ended its host after its run`);
  });
  // A pipe would keep this process from its end.
  for (const stream of [host.stdout, host.stderr]) (stream as Socket | null)?.unref();
  return host;
}
