import { join } from 'node:path';
import { Program } from './program.js';

/** The key that the sandbox accepts. It is valid nowhere else. */
export const sandboxKey = 'sandbox-key';

/** A request as the sandbox logs it; see sandbox/README.md, `GET requests`. */
export interface SeenRequest {
  /** Time of arrival, epoch ms. */
  readonly arrivedAtMs: number;
  readonly durationMs: number;
  readonly path: string;
  readonly query: string;
}

/** The sandbox in its own process: the service that both contenders read. */
export class Sandbox {
  private constructor(
    private readonly program: Program,
    readonly baseUrl: string,
  ) {}

  /** Starts a sandbox without live events, unless `args` enable them. */
  static async start(folder: string, args: readonly string[]): Promise<Sandbox> {
    const program = new Program({
      program: 'sandbox/main',
      args: ['--api-key', sandboxKey, '--frozen', ...args],
      env: {},
      cwd: folder,
      logFile: join(folder, 'sandbox.log'),
    });
    const ready = await program.lineLike(/^sandbox ready on (\S+) /);
    return new Sandbox(program, ready[1]!);
  }

  async control<T>(method: 'GET' | 'POST' | 'DELETE' | 'PATCH', path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${this.baseUrl}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok)
      throw new Error(`the sandbox answers ${method} ${path} with HTTP ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Returns the requests since the last `forgetRequests`, oldest first, at most the latest 10,000. */
  async requests(): Promise<SeenRequest[]> {
    type Logged = { at: string; durationMs: number; path: string; query: string };
    const { requests } = await this.control<{ requests: Logged[] }>('GET', 'requests?last=10000');
    return requests.map(({ at, ...request }) => ({ arrivedAtMs: Date.parse(at), ...request }));
  }

  /** Returns the number of all requests, including those that are no longer stored. */
  async requestCount(): Promise<number> {
    return (await this.control<{ requests: { total: number } }>('GET', 'state')).requests.total;
  }

  async forgetRequests(): Promise<void> {
    await this.control('DELETE', 'requests');
  }

  async stop(): Promise<void> {
    await this.program.stop();
  }
}
