import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../worker/embedded-temporal/free-port.js';
import { type DemoChild, startDemoChild } from './demo-child.js';
import { demoConfig, demoVariables } from './demo-config.js';
import type { DemoFolder } from './demo-folder.js';
import type { DemoOptions } from './demo-options.js';

/** Of the page and the API, unless something else listens there. It is the default of pigeonpost.yaml, too. */
const usualApiPort = 8088;
export interface DemoAddresses {
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly apiUrl: string;
}

/** pigeonpost drains, ends Temporal and closes the store; the others have nothing to lose. Together less than ten seconds. */
const stopPigeonpostMs = 8000;
const stopOthersMs = 1000;

/** The three processes of a demo: the sandbox, a receiver of webhooks, and pigeonpost itself as a user would start it. */
export class DemoProcesses {
  readonly #folder: DemoFolder;
  readonly #options: DemoOptions;
  readonly #children: DemoChild[] = [];
  #pigeonpost: DemoChild | undefined;
  #addresses: Partial<DemoAddresses> = {};
  #fail: (error: Error) => void = () => undefined;
  /** Never resolves; rejects with a {CommandError} when one of them ends by itself, or none can be started. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(folder: DemoFolder, options: DemoOptions) {
    this.#folder = folder;
    this.#options = options;
    this.failed.catch(() => undefined); // whoever waits for it sees it; nobody has to
  }

  /** Where those that are ready can be reached. */
  get addresses(): Partial<DemoAddresses> {
    return this.#addresses;
  }

  /** What is being waited for, for a person: what pigeonpost itself says of it (building Temporal takes minutes). */
  get stage(): string | null {
    if (this.#addresses.apiUrl !== undefined) return null;
    if (this.#pigeonpost === undefined) return 'starting the sandbox and a receiver of webhooks';
    return this.#pigeonpost.lastLine ?? 'starting pigeonpost: its store, Temporal, and a worker';
  }

  /** Starts them, each once those that it needs are ready. Returns at once: `addresses` tell how far it is. */
  start(): void {
    this.#start().catch((error: unknown) => this.#fail(error as Error));
  }

  /** Ends all of them within ten seconds. A second call waits with the first. */
  async stop(): Promise<void> {
    await this.#pigeonpost?.stop(stopPigeonpostMs);
    await Promise.all(this.#children.map((child) => child.stop(stopOthersMs)));
  }

  async #start(): Promise<void> {
    const apiKey = `sandbox-${randomBytes(12).toString('hex')}`;
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const [sandboxUrl, receiverUrl] = await Promise.all([this.#startSandbox(apiKey), this.#startReceiver(secret)]);
    this.#addresses = { sandboxUrl, receiverUrl };
    const apiUrl = await this.#startPigeonpost({ sandboxUrl, receiverUrl }, { apiKey, secret });
    this.#addresses = { sandboxUrl, receiverUrl, apiUrl };
  }

  async #startSandbox(apiKey: string): Promise<string> {
    const { attendees, seed, rate, once } = this.#options;
    const numbers = { seed, attendees, rate };
    const args = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
    // A team workspace has subscriptions, so that no list is empty. The key opens nothing but this sandbox.
    const child = this.#startChild('the sandbox', 'sandbox/main', 'sandbox', [
      ...args,
      '--workspace-kind',
      'team',
      '--api-key',
      apiKey,
      ...(once ? ['--frozen'] : []),
    ]);
    return (await child.lineLike(/^sandbox ready on (\S+) /))[1]!;
  }

  async #startReceiver(secret: string): Promise<string> {
    const child = this.#startChild('the webhook receiver', 'sandbox/webhook-receiver/main', 'receiver', [
      '--secret',
      secret,
      '--log',
      this.#folder.receipts,
    ]);
    return (await child.lineLike(/^webhook receiver ready at (\S+)/))[1]!;
  }

  async #startPigeonpost(
    others: { sandboxUrl: string; receiverUrl: string },
    { apiKey, secret }: { apiKey: string; secret: string },
  ): Promise<string> {
    const apiPort = this.#options.once || !(await isFree(usualApiPort)) ? await freePort() : usualApiPort;
    await writeFile(this.#folder.config, demoConfig({ ...others, apiPort }));
    const secrets = { [demoVariables.apiKey]: apiKey, [demoVariables.webhookSecret]: secret };
    const child = this.#startChild(
      'pigeonpost',
      'cli/main',
      'pigeonpost',
      ['--config', this.#folder.config, 'start'],
      secrets,
    );
    this.#pigeonpost = child;
    return (await child.lineLike(/^status: (\S+)\/api\/status$/))[1]!;
  }

  #startChild(
    name: string,
    program: string,
    log: string,
    args: readonly string[],
    variables?: Readonly<Record<string, string>>,
  ): DemoChild {
    const child = startDemoChild({ name, program, args, variables, logFile: join(this.#folder.logs, `${log}.log`) });
    child.failed.catch((error: unknown) => this.#fail(error as Error));
    this.#children.push(child);
    return child;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
