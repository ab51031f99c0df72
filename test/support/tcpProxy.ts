import { Server, connect, createServer } from "node:net";
import { afterThisTest } from "./cleanup";
import { JoinedSockets } from "./joinedSockets";

/** A connection to a port that can be cut like a network. */
export class TcpProxy {
  private server: Server | undefined;
  private readonly sockets = new JoinedSockets();

  private constructor(
    private readonly target: number,
    readonly port: number,
  ) {}

  /** Opens the proxy until the end of the test. */
  static async to(target: number, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, port);
    await proxy.open();
    afterThisTest(() => proxy.cut());
    return proxy;
  }

  open(): Promise<void> {
    this.server = createServer((incoming) => {
      const outgoing = connect(this.target, "127.0.0.1");
      this.sockets.join(incoming, outgoing);
      incoming.pipe(outgoing).pipe(incoming);
    });
    return new Promise((resolve) => this.server?.listen(this.port, "127.0.0.1", resolve));
  }

  /** Breaks open connections, and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => (this.server === undefined ? resolve(0) : this.server.close(resolve)));
    this.sockets.destroy();
    await closed;
    this.server = undefined;
  }
}
