import { ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

let host: ChildProcess | undefined;

/** Where the engine reaches a program of this folder; one at a time. */
export async function hostProgram(folder: string): Promise<{ address: string; end: () => void }> {
  if (host === undefined || host.exitCode !== null || host.signalCode !== null || !host.connected) {
    host = fork(join(__dirname, "programHost.js"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    host.unref();
    host.channel?.unref();
  }
  const used = host;
  used.send({ folder });
  used.channel?.ref();
  const [answer] = (await once(used, "message")) as [{ port?: number; error?: string }];
  used.channel?.unref();
  if (answer.port === undefined) throw new Error(`no program can be hosted: ${answer.error}`);
  return {
    address: `127.0.0.1:${answer.port}`,
    end: () => {
      if (used.connected) used.send({});
    },
  };
}
