import { Pool, type Dispatcher } from 'undici';

/**
 * The proxy failed, not the destination. Nothing was sent to the destination: every request goes through a tunnel, which
 * the proxy opens first.
 */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  readonly code = 'ERR_PROXY';

  /**
   * @param proxy host and port
   * @param status the proxy's answer to the request for a tunnel; null: there was no answer
   * @param causeCode code of the failed connection to the proxy; empty if it answered
   */
  constructor(
    readonly proxy: string,
    readonly status: number | null,
    readonly causeCode = '',
  ) {
    super(`the proxy opened no tunnel (${status === null ? causeCode : `HTTP ${status}`})`);
  }

  /** Whether the proxy could not reach the destination, so that the destination may be at fault. */
  get isAboutDestination(): boolean {
    return this.status !== null && this.status >= 500;
  }

  /** Describes the failure in a sentence without secrets. @param host the destination */
  sentence(host: string): string {
    const { proxy, status } = this;
    if (status === 407) return `the proxy ${proxy} refuses the user and password of "network.proxy" (HTTP 407)`;
    if (this.isAboutDestination) return `the proxy ${proxy} could not reach ${host} (HTTP ${status})`;
    if (status !== null) {
      return `the proxy ${proxy} opens no connection to ${host} (HTTP ${status}): allow the host in the proxy, or add it to "network.noProxy"`;
    }
    const what = this.causeCode === '' ? 'gave no answer' : `cannot be reached (${this.causeCode})`;
    return `the proxy ${proxy} ${what}: check "network.proxy", and that the proxy runs`;
  }
}

/**
 * Creates the connections to a proxy itself, for undici's option `clientFactory`. A tunnel that is not opened fails with
 * `ProxyFailure`; undici's own error would name neither the proxy nor its answer.
 */
export function proxyConnections(origin: URL, options: Pool.Options): Dispatcher {
  return new ProxyPool(origin, options);
}

class ProxyPool extends Pool {
  readonly #proxy: string;

  constructor(origin: URL, options: Pool.Options) {
    super(origin, options);
    this.#proxy = origin.host;
  }

  // undici's ProxyAgent calls the form that returns a promise.
  override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): void;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback?: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): Promise<Dispatcher.ConnectData> | void {
    if (callback !== undefined) return super.connect(options, callback);
    return this.#tunnel(options);
  }

  async #tunnel(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    let answer: Dispatcher.ConnectData;
    try {
      answer = await super.connect(options);
    } catch (error) {
      if (ownEnds.has(codeOf(error))) throw error;
      throw new ProxyFailure(this.#proxy, null, codeOf(error));
    }
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw new ProxyFailure(this.#proxy, answer.statusCode);
  }
}

/** Codes of a request that pigeonpost itself ended. */
const ownEnds: ReadonlySet<string> = new Set(['UND_ERR_ABORTED', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED', 'ABORT_ERR']);

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : '';
}
