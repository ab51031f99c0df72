import { Server, Socket, connect, createServer } from "node:net";
import { afterThisTest } from "./cleanup";

/** A way to a port that can be cut, as a network is. */
export class TcpProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly target: number,
    readonly port: number,
  ) {}

  /** Opens the way until the end of the test. */
  static async to(target: number, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, port);
    await proxy.open();
    afterThisTest(() => proxy.cut());
    return proxy;
  }

  open(): Promise<void> {
    this.server = createServer((incoming) => {
      const outgoing = connect(this.target, "127.0.0.1");
      for (const socket of [incoming, outgoing]) {
        this.sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          this.sockets.delete(socket);
          incoming.destroy();
          outgoing.destroy();
        });
      }
      incoming.pipe(outgoing).pipe(incoming);
    });
    return new Promise((resolve) => this.server?.listen(this.port, "127.0.0.1", resolve));
  }

  /** Breaks what is open, and refuses what comes. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => (this.server === undefined ? resolve(0) : this.server.close(resolve)));
    for (const socket of this.sockets) socket.destroy();
    await closed;
    this.server = undefined;
  }
}
