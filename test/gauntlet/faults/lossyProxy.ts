import { AddressInfo, Server, Socket, connect, createServer } from "node:net";
import { JoinedSockets } from "../../support/joinedSockets";

const WAIT_MS = 1500;

/** A way to a server that can lose an answer: the server did what it was asked, and nobody learns of it. */
export class LossyProxy {
  private readonly sockets = new JoinedSockets();
  private onAnswer: (() => void) | undefined;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async to(target: number): Promise<LossyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy = new LossyProxy(server, (server.address() as AddressInfo).port);
    server.on("connection", (incoming) => proxy.join(incoming, connect(target, "127.0.0.1")));
    return proxy;
  }

  /** Drops the next answer, with its connection; resolves when that is done, or when there is none to come. */
  async loseAnswer(): Promise<void> {
    const lost = new Promise<void>((resolve) => (this.onAnswer = resolve));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)));
    await Promise.race([lost, late]);
    clearTimeout(timer);
    this.onAnswer = undefined;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.sockets.destroy();
    await closed;
  }

  private join(incoming: Socket, outgoing: Socket): void {
    this.sockets.join(incoming, outgoing);
    incoming.pipe(outgoing);
    outgoing.on("data", (data) => {
      const lost = this.onAnswer;
      if (lost === undefined) {
        incoming.write(data);
        return;
      }
      this.onAnswer = undefined;
      incoming.destroy();
      lost();
    });
  }
}
