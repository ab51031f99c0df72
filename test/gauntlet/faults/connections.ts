import type { ConfirmChannel } from "amqplib";
import type { Round, RunningPart } from "../workload/part";

/** The broker closes all of a part's connections. */
export async function closeConnections({ broker }: Round, { vhost }: RunningPart): Promise<void> {
  const open = await broker.api.call<{ name: string }[]>("GET", `vhosts/${vhost}/connections`);
  await Promise.all(
    open.map(({ name }) =>
      broker.api.call("DELETE", `connections/${encodeURIComponent(name)}`).catch((error: Error) => {
        // It has gone by itself.
        if (!error.message.includes("404")) throw error;
      }),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The broker closes a publisher's channel: somebody published to an exchange on it that does not exist. */
export async function raiseChannelError(_: Round, { channels }: RunningPart): Promise<void> {
  for (const { channel } of channels) {
    const open = channel as Partial<ConfirmChannel & { basicPublish(envelope: object, body: string): Promise<void> }>;
    if (typeof open?.basicPublish === "function") {
      await open.basicPublish({ exchange: "there-is-none", routingKey: "x" }, "x").catch(() => undefined);
    } else if (typeof open?.publish === "function") {
      try {
        open.publish("there-is-none", "x", Buffer.from("x"));
      } catch {
        // It has closed already.
      }
    }
  }
}
