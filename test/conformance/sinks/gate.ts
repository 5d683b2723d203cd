import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of connections: led to the server, cut, left without an answer, answered with nonsense, or answered to no one. */
export type GateMode = 'open' | 'cut' | 'silent' | 'garbage' | 'answer-lost';

/** A port on loopback in front of a server, where the network between a sink and its destination fails as a test wants. */
export class Gate {
  #mode: GateMode = 'open';
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#accept(socket));

  /** @param heard what the sink says, as it passes */
  constructor(
    private readonly targetPort: number,
    private readonly heard: (bytes: Buffer) => void = () => undefined,
  ) {}

  async open(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  get mode(): GateMode {
    return this.#mode;
  }

  /** Open connections end, so that none goes on in the mode before. */
  setMode(mode: GateMode): void {
    this.#mode = mode;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.setMode('cut');
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket): void {
    this.#track(socket);
    switch (this.#mode) {
      case 'cut':
        socket.destroy();
        return;
      case 'silent':
        socket.resume();
        return;
      case 'garbage':
        socket.once('data', () => socket.end('\u0000\u0001 not HTTP\r\n\r\n'));
        return;
      default:
        this.#lead(socket, this.#mode === 'answer-lost');
    }
  }

  #lead(socket: Socket, losesAnswer: boolean): void {
    const target = connect(this.targetPort, '127.0.0.1');
    this.#track(target);
    socket.on('data', this.heard).pipe(target);
    if (losesAnswer) target.once('data', () => socket.destroy());
    else target.pipe(socket);
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined); // the other side sees it as a failed call, which is what is tested
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
