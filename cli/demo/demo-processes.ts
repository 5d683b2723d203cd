import { messageOf } from '../../base/errors.js';
import { readFileSync } from 'node:fs';
import { tokenFileOfStore } from '../../worker/instance-file.js';
import { type ApiClient, apiClient } from '../api-client.js';
import { pageLink } from '../commands/access.js';
import type { DemoView } from './demo-screen.js';
import {
  hubSpotState,
  hubSpotSummary,
  sandboxState,
  type SandboxState,
  slackState,
  slackSummary,
} from './stand-in-state.js';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, isFree } from '../../worker/embedded-temporal/free-port.js';
import { type DemoChild, type DemoChildOptions, startDemoChild } from './demo-child.js';
import { demoConfig, demoVariables, type DemoFolder } from './demo-folder.js';
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
export type Surroundings = Omit<DemoAddresses, 'apiUrl'>;

type DemoSecrets = Readonly<Record<keyof typeof demoVariables, string>>;

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
  readonly #children: DemoChild[] = [];
  #pigeonpost: DemoChild | undefined;
  #addresses: Partial<DemoAddresses> = {};
  #fail: (error: Error) => void = () => undefined;
  /** Never resolves; rejects with a {CommandError} if a process ends unexpectedly or cannot be started. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(
    private readonly folder: DemoFolder,
    private readonly options: DemoOptions,
  ) {
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
    const { once, ...options } = this.options;
    const numbers = (['seed', 'attendees', 'rate'] as const).flatMap((name) => [`--${name}`, String(options[name])]);
    // A team workspace has subscriptions, so that no list is empty. The key is visible in the process list, but gives
    // access only to this sandbox.
    const child = this.#startChild({
      name: 'the sandbox',
      program: 'sandbox/main',
      log: 'sandbox',
      args: [...numbers, '--workspace-kind', 'team', '--api-key', apiKey, ...(once ? ['--frozen'] : [])],
    });
    return await child.matchIn(/^sandbox ready on (\S+) /);
  }

  async #startReceiver(secret: string): Promise<string> {
    const child = this.#startChild({
      name: 'the webhook receiver',
      program: 'sandbox/webhook-receiver/main',
      log: 'receiver',
      args: ['--secret', secret, '--log', this.folder.receipts],
    });
    return await child.matchIn(/^webhook receiver ready at (\S+)/);
  }

  /** Starts the stand-in of a vendor as a process. The sink's tests use the same stand-in. */
  async #startDouble(vendor: string, folder: string, token: string): Promise<string> {
    const child = this.#startChild({
      name: `the stand-in for ${vendor}`,
      program: 'sandbox/run-double',
      log: folder,
      args: [folder, '--token', token, ...(this.options.once ? ['--per10s', String(per10sOfOnce)] : [])],
    });
    return await child.matchIn(new RegExp(`^${vendor} double ready at (\\S+)$`));
  }

  async #startPigeonpost(surroundings: Surroundings, secrets: DemoSecrets): Promise<string> {
    const { once } = this.options;
    const apiPort = once || !(await isFree(usualApiPort)) ? await freePort() : usualApiPort;
    const per10s = once ? per10sOfOnce : null;
    await writeFile(this.folder.config, demoConfig({ ...surroundings, apiPort, per10s }));
    const child = this.#startChild({
      name: 'pigeonpost',
      program: 'cli/main',
      log: 'pigeonpost',
      args: ['--config', this.folder.config, 'start'],
      variables: Object.fromEntries(
        (Object.keys(secrets) as (keyof DemoSecrets)[]).map((name) => [demoVariables[name], secrets[name]]),
      ),
    });
    this.#pigeonpost = child;
    return await child.matchIn(/^page: (\S+)\/\?code=/);
  }

  #startChild({ log, ...options }: Omit<DemoChildOptions, 'logFile'> & { readonly log: string }): DemoChild {
    const child = startDemoChild({ ...options, logFile: join(this.folder.logs, `${log}.log`) });
    child.failed.catch((error: unknown) => this.#fail(error as Error));
    this.#children.push(child);
    return child;
  }
}

/**
 * The interval at which the stand-ins are read. It is longer than that of pigeonpost, because they return their whole
 * content, which grows.
 */
const lookAtStandInsEveryMs = 3000;
/** Interval at which the link is renewed: links expire after ten minutes. */
const renewLinkEveryMs = 5 * 60_000;

/** Reads the state of a running demo from the control APIs of the stand-ins and pigeonpost's own API. */
export class DemoObserver {
  readonly #startedAt = Date.now();
  #source: SandboxState | null = null;
  #status: DemoView['status'] = null;
  #contacts = '';
  #messages = '';
  #lookedAtStandInsAt = -Infinity;
  #link: string | null = null;
  #linkMadeAt = -Infinity;

  constructor(
    private readonly folder: DemoFolder,
    private readonly processes: DemoProcesses,
  ) {}

  /**
   * Returns the state of the demo. Values that cannot be read now keep their last state, and `note` says so.
   * `DemoProcesses` detects processes that have ended.
   */
  async look(): Promise<DemoView> {
    const notes = [this.processes.stage];
    const { sandboxUrl, apiUrl } = this.processes.addresses;
    try {
      if (sandboxUrl !== undefined) this.#source = await sandboxState(sandboxUrl);
      if (apiUrl !== undefined) await this.#lookAtPigeonpost(apiUrl);
      await this.#lookAtStandIns();
    } catch (error) {
      notes.push(`not up to date: ${messageOf(error)}`);
    }
    return {
      note: notes.find((note) => note !== null) ?? null,
      runningForMs: Date.now() - this.#startedAt,
      source: this.#source,
      status: this.#status,
      places: this.#places(),
    };
  }

  async #lookAtPigeonpost(apiUrl: string): Promise<void> {
    const token = readFileSync(tokenFileOfStore(this.folder.store), 'utf8').trim();
    const client = apiClient(() => Promise.resolve({ url: apiUrl, token }));
    this.#status = await client.get('/api/status', { query: { counts: '' } });
    await this.#renewLink(apiUrl, client);
  }

  async #renewLink(apiUrl: string, client: ApiClient): Promise<void> {
    const now = Date.now();
    if (now - this.#linkMadeAt < renewLinkEveryMs) return;
    this.#link = pageLink(apiUrl, await client.post('/api/page-codes', { json: {} }));
    this.#linkMadeAt = now;
  }

  async #lookAtStandIns(): Promise<void> {
    const { hubSpotUrl, slackUrl } = this.processes.addresses;
    const now = Date.now();
    if (hubSpotUrl === undefined || slackUrl === undefined) return;
    if (now - this.#lookedAtStandInsAt < lookAtStandInsEveryMs) return;
    this.#lookedAtStandInsAt = now;
    this.#contacts = hubSpotSummary(await hubSpotState(hubSpotUrl));
    this.#messages = slackSummary(await slackState(slackUrl));
  }

  #places(): DemoView['places'] {
    const { hubSpotUrl, slackUrl } = this.processes.addresses;
    return [
      ...(this.#link === null ? [] : [{ label: 'page', place: this.#link, holds: '' }]),
      ...(slackUrl === undefined ? [] : [{ label: 'messages', place: slackUrl, holds: this.#messages }]),
      ...(hubSpotUrl === undefined ? [] : [{ label: 'contacts', place: hubSpotUrl, holds: this.#contacts }]),
      { label: 'files', place: this.folder.shown, holds: 'archive, receipts.ndjson, pigeonpost.yaml, logs' },
    ];
  }
}
