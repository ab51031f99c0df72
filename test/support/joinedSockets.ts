import type { Socket } from "node:net";

/** The sockets of a proxy, in pairs: when one of a pair ends, the other does, too. */
export class JoinedSockets {
  private readonly sockets = new Set<Socket>();

  join(incoming: Socket, outgoing: Socket): void {
    for (const socket of [incoming, outgoing]) {
      this.sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
  }

  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}
