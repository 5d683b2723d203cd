import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PigeonholeDetails, StreamView } from '../../api/pigeonholes.js';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import type { Status } from '../../operations/status-view.js';
import { runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';
import { runWebhookReceiver, type WebhookReceiver } from '../../sandbox/webhook-receiver/run-webhook-receiver.js';
import { freeTestPort } from '../free-port.js';
import { ageDeliveries } from '../kit/age-deliveries.js';
import { apiHeaders } from '../kit/api-headers.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { until } from '../until.js';

const hookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface SystemOptions {
  /** Further variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** YAML of further sinks, by name. */
  readonly sinks?: Readonly<Record<string, string>>;
}

/** A `pigeonpost start` on a small conference, with a webhook receiver whose answers tests can plan. */
export class RunningSystem {
  readonly folder = mkdtempSync(join(tmpdir(), 'pigeonpost-browser-'));
  readonly #sandbox: Sandbox;
  readonly #receiver: WebhookReceiver;
  readonly #port: number;
  readonly #programs: Program[] = [];
  #environment: Readonly<Record<string, string>> = {};

  private constructor(sandbox: Sandbox, receiver: WebhookReceiver, port: number) {
    this.#sandbox = sandbox;
    this.#receiver = receiver;
    this.#port = port;
  }

  /** The receiver refuses two attendees, which become dead letters. */
  static async open(given: SystemOptions = {}): Promise<RunningSystem> {
    const sandbox = await runSandbox({
      seed: 9,
      frozen: true,
      attendees: 30,
      sessions: 4,
      questions: 12,
      votes: 12,
      responses: 5,
      registrants: true,
    });
    const receiver = await runWebhookReceiver({ secrets: [hookSecret] });
    const system = new RunningSystem(sandbox, receiver, await freeTestPort());
    try {
      await system.#start(given);
    } catch (error) {
      await system.close(); // leave no process behind if the start fails
      throw error;
    }
    return system;
  }

  async #start({ environment = {}, sinks = {} }: SystemOptions): Promise<void> {
    await this.planAnswer({ status: 422, list: 'attendees', count: 2, body: 'the field Email is not allowed' });
    this.configure(undefined, sinks);
    this.#environment = environment;
    await this.#run();
    await until('everything is read and delivered', async () => (await this.status()).settled);
  }

  async #run(): Promise<void> {
    const main = startProgram('cli/main.js', ['start'], {
      cwd: this.folder,
      env: { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret, ...this.#environment },
    });
    this.#programs.push(main);
    await untilOutput(main, /ready/);
  }

  /** Stops pigeonpost, makes what was delivered as old as an audit compares, and starts it again. */
  async letDeliveriesAge(): Promise<void> {
    await endAll(this.#programs.splice(0));
    const db = await openEmbedded({ folder: join(this.folder, 'data') });
    await ageDeliveries(db);
    await db.close();
    await this.#run();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /**
   * @param lists further YAML of the observing sink
   * @param more YAML of further sinks, by name
   */
  configure(lists = 'lists: [sessions]', more: Readonly<Record<string, string>> = {}): void {
    const everyone = 'consent: { accept: [obtained, refused, not-asked, not-known] }';
    writeYaml(this.folder, [
      `workspaces: { acme: { baseUrl: "${this.#sandbox.baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
      'syncs:',
      '  conference:',
      '    workspace: acme',
      '    every: { live: 1s, new: 2s, upcoming: 2s, ended: 2s, sweep: 2s }',
      '    deletions: { confirm: 1s, holdAbove: { share: 5%, items: 2 } }',
      `    sinks: [${['archive', 'hooks', 'late', ...Object.keys(more)].join(', ')}]`,
      'sinks:',
      '  archive: { type: file, folder: ./archive }',
      `  hooks: { type: webhook, url: "${this.#receiver.url}", secret: "\${HOOK_SECRET}", history: all, allowPrivateAddresses: true, ${everyone} }`,
      `  late: { type: file, folder: ./late, mode: observe, ${lists} }`,
      ...Object.entries(more).map(([name, yaml]) => `  ${name}: ${yaml}`),
      `server: { port: ${this.#port} }`,
    ]);
  }

  /** Returns a link that signs one browser in. @param token whose rights it has; by default the administrator's */
  async link(token?: string): Promise<string> {
    const { code } = await this.post<{ code: string }>('/api/page-codes', {}, token);
    return `${this.url}/?code=${code}`;
  }

  async status(): Promise<Status> {
    return await this.ask<Status>('/api/status');
  }

  async ask<Answer>(path: string): Promise<Answer> {
    return (await (await fetch(`${this.url}${path}`, { headers: apiHeaders(this.folder) })).json()) as Answer;
  }

  async post<Answer>(path: string, body: object, token?: string): Promise<Answer> {
    const answer = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { ...apiHeaders(this.folder), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  }

  /** @returns the token itself */
  async makeToken(name: string, role: string): Promise<string> {
    const made = await this.post<{ token: string }>('/api/tokens', { name, roles: [role], expiresInDays: 1 });
    return made.token;
  }

  /** Returns the audited actions, newest first. */
  async auditedActions(): Promise<string[]> {
    const { items } = await this.ask<{ items: readonly { action: string }[] }>('/api/audit?limit=100');
    return items.map(({ action }) => action);
  }

  async planAnswer(plan: object): Promise<void> {
    await fetch(`${this.#receiver.url}_control/answers`, { method: 'POST', body: JSON.stringify(plan) });
  }

  async forgetAnswers(): Promise<void> {
    await fetch(`${this.#receiver.url}_control/answers`, { method: 'DELETE' });
  }

  /** Returns the IDs of a list of pigeonhole 101 from the service. */
  async ids(list: string): Promise<number[]> {
    const answer = await fetch(`${this.#sandbox.baseUrl}/_control/truth/${list}?pigeonhole=101&ids=1`);
    const lines = (await answer.text()).split('\n').filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as { id: number }).id);
  }

  async change(...mutations: readonly object[]): Promise<void> {
    const body = JSON.stringify(mutations.map((each) => ({ pigeonhole: 101, ...each })));
    const answer = await fetch(`${this.#sandbox.baseUrl}/_control/mutations`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`the sandbox answers ${answer.status}: ${await answer.text()}`);
  }

  /** Lets every request to the service wait for an hour, as a service that hangs does. */
  async hang(): Promise<void> {
    const body = JSON.stringify({ kind: 'delay', ms: 3_600_000 });
    await fetch(`${this.#sandbox.baseUrl}/_control/faults`, { method: 'POST', body });
  }

  /** Lets new requests be answered again. */
  async endHang(): Promise<void> {
    await fetch(`${this.#sandbox.baseUrl}/_control/faults`, { method: 'DELETE' });
  }

  /** Waits until every list that is due now has been read. Requests that were caught in a hang end only after 30 s. */
  async untilDueIsRead(): Promise<void> {
    const now = new Date().toISOString();
    const { items: pigeonholes } = await this.ask<{ items: readonly PigeonholeDetails[] }>('/api/pigeonholes');
    for (const { workspace, id } of pigeonholes) {
      await until(`every list of ${workspace}/${id} is read`, async () => {
        const streams = await this.ask<{ items: readonly StreamView[] }>(
          `/api/pigeonholes/${workspace}/${id}/streams?limit=500`,
        );
        return streams.items
          .filter(({ wanted, goneAt }) => wanted && goneAt === null)
          .every(({ dueAt, failures }) => dueAt > now && failures === 0);
      });
    }
  }

  /** Lets the service accept only this key. */
  async acceptKey(key: string): Promise<void> {
    await fetch(`${this.#sandbox.baseUrl}/_control/keys`, {
      method: 'POST',
      body: JSON.stringify({ accepted: [key] }),
    });
  }

  async close(): Promise<void> {
    await endAll(this.#programs);
    await this.#receiver.close();
    await this.#sandbox.close();
    const left = processesNaming(this.folder);
    rmSync(this.folder, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`${left.length} processes are left over`);
  }
}
