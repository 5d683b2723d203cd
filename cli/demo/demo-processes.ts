import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, isFree } from '../../worker/embedded-temporal/free-port.js';
import { type DemoChild, type DemoChildOptions, startDemoChild } from './demo-child.js';
import { demoConfig, demoVariables } from './demo-config.js';
import type { DemoFolder } from './demo-folder.js';
import type { DemoOptions } from '../commands/demo.js';

/** Default port of pigeonpost.yaml, used unless something else listens there. */
const usualApiPort = 8088;
/**
 * Requests per 10 s that the stand-ins for HubSpot and Slack allow with `--once`; the vendors' limits would take
 * minutes.
 */
const per10sOfOnce = 1000;

interface DemoAddresses {
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly hubSpotUrl: string;
  readonly slackUrl: string;
  readonly apiUrl: string;
}

/** Addresses that pigeonpost reads from and delivers to. */
type Surroundings = Omit<DemoAddresses, 'apiUrl'>;

interface DemoSecrets {
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly hubSpotToken: string;
  readonly slackToken: string;
}

/**
 * Time limits to end a process. pigeonpost drains, ends Temporal and closes the store; the other processes have nothing
 * to save. Together less than 10 s.
 */
const stopPigeonpostMs = 8000;
const stopOthersMs = 1000;

/**
 * The processes of a demo: the sandbox, a webhook receiver, stand-ins for HubSpot and Slack, and pigeonpost as a user
 * would start it.
 */
export class DemoProcesses {
  readonly #folder: DemoFolder;
  readonly #options: DemoOptions;
  readonly #children: DemoChild[] = [];
  #pigeonpost: DemoChild | undefined;
  #addresses: Partial<DemoAddresses> = {};
  #fail: (error: Error) => void = () => undefined;
  /** Never resolves; rejects with a {CommandError} if a process ends unexpectedly or cannot be started. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(folder: DemoFolder, options: DemoOptions) {
    this.#folder = folder;
    this.#options = options;
    this.failed.catch(() => undefined); // an unhandled rejection must not end the process
  }

  /** Addresses of the processes that are ready. */
  get addresses(): Partial<DemoAddresses> {
    return this.#addresses;
  }

  /** The step in progress, as pigeonpost reports it. It is shown because building Temporal takes minutes. */
  get stage(): string | null {
    if (this.#addresses.apiUrl !== undefined) return null;
    if (this.#pigeonpost === undefined)
      return 'starting the sandbox, a webhook receiver, and stand-ins for HubSpot and Slack';
    return this.#pigeonpost.lastLine ?? 'starting pigeonpost: its store, Temporal, and a worker';
  }

  /** Starts each process once those it needs are ready. Returns immediately; `addresses` shows the progress. */
  start(): void {
    this.#start().catch((error: unknown) => this.#fail(error as Error));
  }

  /** Ends all processes within ten seconds. A second call waits with the first. */
  async stop(): Promise<void> {
    await this.#pigeonpost?.stop(stopPigeonpostMs);
    await Promise.all(this.#children.map((child) => child.stop(stopOthersMs)));
  }

  async #start(): Promise<void> {
    const secrets: DemoSecrets = {
      apiKey: `sandbox-${randomBytes(12).toString('hex')}`,
      webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
      hubSpotToken: `pat-${randomBytes(12).toString('hex')}`,
      slackToken: `xoxb-${randomBytes(12).toString('hex')}`,
    };
    const [sandboxUrl, receiverUrl, hubSpotUrl, slackUrl] = await Promise.all([
      this.#startSandbox(secrets.apiKey),
      this.#startReceiver(secrets.webhookSecret),
      this.#startDouble('HubSpot', 'hubspot', secrets.hubSpotToken),
      this.#startDouble('Slack', 'slack', secrets.slackToken),
    ]);
    const surroundings = { sandboxUrl, receiverUrl, hubSpotUrl, slackUrl };
    this.#addresses = surroundings;
    this.#addresses = { ...surroundings, apiUrl: await this.#startPigeonpost(surroundings, secrets) };
  }

  async #startSandbox(apiKey: string): Promise<string> {
    const { attendees, seed, rate, once } = this.#options;
    const numbers = { seed, attendees, rate };
    const args = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
    // A team workspace has subscriptions, so that no list is empty. The key is visible in the process list, but gives
    // access only to this sandbox.
    const child = this.#startChild({
      name: 'the sandbox',
      program: 'sandbox/main',
      log: 'sandbox',
      args: [...args, '--workspace-kind', 'team', '--api-key', apiKey, ...(once ? ['--frozen'] : [])],
    });
    return (await child.lineLike(/^sandbox ready on (\S+) /))[1]!;
  }

  async #startReceiver(secret: string): Promise<string> {
    const child = this.#startChild({
      name: 'the webhook receiver',
      program: 'sandbox/webhook-receiver/main',
      log: 'receiver',
      args: ['--secret', secret, '--log', this.#folder.receipts],
    });
    return (await child.lineLike(/^webhook receiver ready at (\S+)/))[1]!;
  }

  /** Starts the stand-in of a vendor as a process. The sink's tests use the same stand-in. */
  async #startDouble(vendor: string, folder: string, token: string): Promise<string> {
    const child = this.#startChild({
      name: `the stand-in for ${vendor}`,
      program: 'sandbox/run-double',
      log: folder,
      args: [folder, '--token', token, ...(this.#options.once ? ['--per10s', String(per10sOfOnce)] : [])],
    });
    return (await child.lineLike(new RegExp(`^${vendor} double ready at (\\S+)$`)))[1]!;
  }

  async #startPigeonpost(surroundings: Surroundings, secrets: DemoSecrets): Promise<string> {
    const { once } = this.#options;
    const apiPort = once || !(await isFree(usualApiPort)) ? await freePort() : usualApiPort;
    const per10s = once ? per10sOfOnce : null;
    await writeFile(this.#folder.config, demoConfig({ ...surroundings, apiPort, per10s }));
    const child = this.#startChild({
      name: 'pigeonpost',
      program: 'cli/main',
      log: 'pigeonpost',
      args: ['--config', this.#folder.config, 'start'],
      variables: {
        [demoVariables.apiKey]: secrets.apiKey,
        [demoVariables.webhookSecret]: secrets.webhookSecret,
        [demoVariables.hubSpotToken]: secrets.hubSpotToken,
        [demoVariables.slackToken]: secrets.slackToken,
      },
    });
    this.#pigeonpost = child;
    return (await child.lineLike(/^page: (\S+)\/\?code=/))[1]!;
  }

  #startChild({ log, ...options }: Omit<DemoChildOptions, 'logFile'> & { readonly log: string }): DemoChild {
    const child = startDemoChild({ ...options, logFile: join(this.#folder.logs, `${log}.log`) });
    child.failed.catch((error: unknown) => this.#fail(error as Error));
    this.#children.push(child);
    return child;
  }
}
