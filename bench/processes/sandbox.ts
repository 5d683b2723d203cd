import { join } from 'node:path';
import { Program } from './program.js';
import type { Stage } from './stage.js';

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

/** Flags of the command `sandbox`, without the dashes. */
export type SandboxFlags = Readonly<Record<string, number>>;

/** The sandbox in its own process: the service that both contenders read. */
export class Sandbox {
  private constructor(
    private readonly program: Program,
    readonly baseUrl: string,
  ) {}

  /** Starts a sandbox without live events. */
  static async start(folder: string, flags: SandboxFlags): Promise<Sandbox> {
    const program = new Program({
      program: 'sandbox/main',
      args: ['--api-key', sandboxKey, '--frozen', ...Object.entries(flags).map(([name, n]) => `--${name}=${n}`)],
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

/** Signing secret on loopback, which protects nothing. */
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** A change in the receiver's log. */
interface Received {
  readonly list: string;
  readonly key: string;
  /** `<list>.created`, `.updated` or `.deleted`. */
  readonly type: string;
  /** Epoch ms at which the product found the change, from its timestamp. */
  readonly foundAtMs: number;
  /** Epoch ms at which the receiver had checked the signature and logged the change. */
  readonly atMs: number;
}

/** The receiver of signed webhooks in its own process. It ends with the stage, or earlier by `stop`. */
export class Receiver {
  private constructor(
    private readonly url: string,
    private readonly program: Program,
  ) {}

  static async start(stage: Stage): Promise<Receiver> {
    const folder = stage.nextFolder();
    const program = new Program({
      program: 'sandbox/webhook-receiver/main',
      args: ['--secret', secret],
      env: {},
      cwd: folder,
      logFile: join(folder, 'receiver.log'),
    });
    stage.onClose(() => program.stop());
    const ready = await program.lineLike(/^webhook receiver ready at (\S+)/);
    return new Receiver(ready[1]!, program);
  }

  /** Ends the process. A benchmark with many runs stops each receiver after its run to free memory. */
  async stop(): Promise<void> {
    await this.program.stop();
  }

  /** URL and secret for senders other than the product. */
  get target(): { readonly url: string; readonly secret: string } {
    return { url: this.url, secret };
  }

  /** Environment variables for the product that `sinkLine` refers to. */
  get env(): Readonly<Record<string, string>> {
    return { BENCH_WEBHOOK_SECRET: secret };
  }

  /** Returns the YAML of a sink that sends these lists to the receiver. */
  sinkLine(name: string, lists: readonly string[], more = ''): string {
    return `${name}: { type: webhook, url: "${this.url}", secret: "\${BENCH_WEBHOOK_SECRET}", allowPrivateAddresses: true, lists: [${lists.join(', ')}]${more} }`;
  }

  /** Returns all received changes, oldest first. */
  async received(): Promise<Received[]> {
    const answer = await fetch(new URL('/_control/receipts', this.url));
    type Receipt = { list: string; key: string; type: string; timestamp: string; receivedAt: string };
    return (await answer.text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Receipt)
      .map(({ timestamp, receivedAt, ...change }) => ({
        ...change,
        foundAtMs: Date.parse(timestamp),
        atMs: Date.parse(receivedAt),
      }));
  }
}
