import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Treatment of connections: forward, close, never answer, answer with garbage, or forward and lose the answer. */
export type GateMode = 'open' | 'cut' | 'silent' | 'garbage' | 'answer-lost';

/** A proxy on loopback between a sink and its destination, whose network failures a test controls. */
export class Gate {
  #mode: GateMode = 'open';
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#accept(socket));

  /** @param heard receives the bytes that the sink sends */
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

  /** Changes the mode and closes open connections, so that none continues in the previous mode. */
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
    socket.on('error', () => undefined); // the other side sees a failed call, which the test expects
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
