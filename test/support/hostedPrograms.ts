import { ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

// Each host runs one program at a time; a test that runs two at once gets two.
const idle: ChildProcess[] = [];

/** A program that the engine can run. */
export interface HostedProgram {
  /** Where its host listens, for `pulumi --client`. */
  address: string;
  /** Gives the host back. */
  end(): void;
}

/** Offers the program of a folder to the engine, in a process that runs others before and after. */
export async function hostProgram(folder: string): Promise<HostedProgram> {
  const host = takeIdle() ?? startHost();
  host.channel?.ref();
  const heard = new AbortController();
  const answered = once(host, "message", heard) as Promise<[{ port?: number; error?: string }]>;
  const ended = once(host, "exit", heard).then(() => {
    throw new Error("the process that hosts programs ended");
  });
  [answered, ended].forEach((one) => void one.catch(() => undefined));
  host.send({ folder });
  const [answer] = await Promise.race([answered, ended]).finally(() => heard.abort());
  host.channel?.unref();
  if (answer.port === undefined) throw new Error(`no program can be hosted: ${answer.error}`);
  return {
    address: `127.0.0.1:${answer.port}`,
    end: () => {
      if (!host.connected) return;
      host.send({});
      idle.push(host);
    },
  };
}

function takeIdle(): ChildProcess | undefined {
  let host = idle.pop();
  while (host !== undefined && !host.connected) host = idle.pop();
  return host;
}

function startHost(): ChildProcess {
  const host = fork(join(__dirname, "programHost.js"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  host.unref();
  return host;
}
