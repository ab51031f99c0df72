import { Server, Socket, connect, createServer } from "node:net";
import { afterThisTest } from "./cleanup";
import { JoinedSockets } from "./joinedSockets";

/** A connection to a port that can be cut like a network. */
export class TcpProxy {
  private server: Server | undefined;
  private readonly sockets = new JoinedSockets();
  private pairs: [Socket, Socket][] = [];
  private isPassing = true;

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
      this.pairs.push([incoming, outgoing]);
      if (this.isPassing) incoming.pipe(outgoing).pipe(incoming);
    });
    return new Promise((resolve) => this.server?.listen(this.port, "127.0.0.1", resolve));
  }

  /** Passes no byte any more, without a word, like a network that drops all packets; new connections open, and get no answer. */
  stopPassing(): void {
    this.isPassing = false;
    for (const [incoming, outgoing] of this.pairs) {
      incoming.unpipe(outgoing);
      outgoing.unpipe(incoming);
      // Nor is it told that the other side has given up.
      outgoing.removeAllListeners("close");
    }
  }

  /** Passes on new connections; those from before stay silent. */
  passNew(): void {
    this.isPassing = true;
    this.pairs = [];
  }

  /** Breaks open connections, and refuses new ones. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => (this.server === undefined ? resolve(0) : this.server.close(resolve)));
    this.sockets.destroy();
    await closed;
    this.server = undefined;
  }
}
