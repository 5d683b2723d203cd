import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useStores } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type SandboxOptions, runSandbox, type Sandbox } from '../../sandbox/start-sandbox.js';
import type { LoggedReceipt } from '../../sandbox/webhook-receiver/receipt.js';
import { runWebhookReceiver, type WebhookReceiver } from '../../sandbox/webhook-receiver/run-webhook-receiver.js';
import { type ArchivedChange, readArchive } from './archive.js';
import { forgetEverything } from './forget-everything.js';
import { passTime } from './pass-time.js';
import { openScene, type Scene, type SceneOptions } from './scene.js';

export type Item = Readonly<Record<string, unknown>>;

/** The only pigeonhole of a stage; live, so that everything is read at the shortest interval. */
export const pigeonhole = 101;
export const everyone = 'consent: { accept: [obtained, refused, not-asked, not-known] }';
const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** An empty service and store for one test, with functions to add items and to run pigeonpost on them. */
export class Stage {
  /** Folder for files of the test, deleted afterwards. */
  readonly folder = mkdtempSync(join(tmpdir(), 'pigeonpost-stage-'));
  readonly #close: (() => unknown)[] = [() => rmSync(this.folder, { recursive: true })];
  #receiver: WebhookReceiver | undefined;
  #receiptLog: string | undefined;

  private constructor(
    readonly db: Database,
    readonly sandbox: Sandbox,
  ) {
    this.#close.push(() => sandbox.close());
  }

  static async open(db: Database, options: SandboxOptions = {}): Promise<Stage> {
    await forgetEverything(db);
    const world = { seed: 3, frozen: true, pigeonholes: 1, attendees: 0, sessions: 0, questions: 0 };
    return new Stage(db, await runSandbox({ ...world, ...options }));
  }

  /** Opens a pigeonpost on this stage's store and service, by default with a file sink that accepts all records. */
  async scene({
    store = this.db,
    ...options
  }: Omit<SceneOptions, 'db' | 'baseUrl'> & { readonly store?: Database } = {}): Promise<Scene> {
    const sinks = options.sinks ?? { archive: `{ type: file, folder: ./archive, ${everyone} }` };
    const scene = await openScene({ db: store, baseUrl: this.sandbox.baseUrl, ...options, sinks });
    this.#close.push(() => scene.close());
    return scene;
  }

  /** Returns the stage's webhook receiver. Starts it on the first call. */
  async receiver(): Promise<WebhookReceiver> {
    if (this.#receiver !== undefined) return this.#receiver;
    this.#receiptLog = join(this.folder, 'receipts.ndjson');
    const receiver = await runWebhookReceiver({ secrets: [webhookSecret], logFile: this.#receiptLog });
    this.#close.push(() => receiver.close());
    this.#receiver = receiver;
    return receiver;
  }

  /** Returns the accepted changes in the order of arrival, with their bodies. */
  received(list?: string): LoggedReceipt[] {
    if (this.#receiptLog === undefined) return [];
    return readFileSync(this.#receiptLog, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as LoggedReceipt)
      .filter((receipt) => list === undefined || receipt.list === list);
  }

  async webhookScene(consent = everyone, options: Omit<SceneOptions, 'db' | 'baseUrl'> = {}): Promise<Scene> {
    const { url } = await this.receiver();
    const hooks = `{ type: webhook, url: "${url}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true, ${consent} }`;
    return await this.scene({
      ...options,
      sinks: { hooks, ...options.sinks },
      environment: { ...options.environment, HOOK_SECRET: webhookSecret },
    });
  }

  /** Plans the receiver's next answers; see sandbox/webhook-receiver/run-webhook-receiver.ts. */
  async planAnswer(plan: object): Promise<void> {
    const { url } = await this.receiver();
    await answerOf(await fetch(`${url}_control/answers`, { method: 'POST', body: JSON.stringify(plan) }));
  }

  async forgetAnswers(): Promise<void> {
    const { url } = await this.receiver();
    await answerOf(await fetch(`${url}_control/answers`, { method: 'DELETE' }));
  }

  async control(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return await answerOf(await fetch(`${this.sandbox.baseUrl}/_control/${path}`, { method, ...sent }));
  }

  /** Adds items to a list exactly as given. Generates ids for votes, which show none. */
  async put(list: string, ...items: readonly Item[]): Promise<void> {
    const inPigeonhole = list === 'pigeonholes' ? {} : { pigeonhole };
    await this.control(
      'POST',
      'mutations',
      items.map((item) => ({ op: 'insert', list, ...inPigeonhole, ...idOf(list, item), item, exact: true })),
    );
  }

  async patch(list: string, id: number, item: Item): Promise<void> {
    const where = list === 'pigeonholes' ? {} : { pigeonhole };
    await this.control('POST', 'mutations', { op: 'patch', list, ...where, id, item, mirror: false });
  }

  async remove(list: string, id: number): Promise<void> {
    await this.control('POST', 'mutations', { op: 'delete', list, pigeonhole, id, mirror: false });
  }

  async fault(rule: object): Promise<void> {
    await this.control('POST', 'faults', rule);
  }

  /** Returns the requests to the service since the last call. */
  async requests(): Promise<{ path: string; query: string; code: number | null }[]> {
    const { requests } = await this.control('GET', 'requests?last=1000');
    await this.control('DELETE', 'requests');
    return requests as { path: string; query: string; code: number | null }[];
  }

  /** Makes every stream due, as if time had passed. */
  async pollsAreDue(): Promise<void> {
    await this.db.query('update streams set due_at = now() where due_at > now()');
  }

  /** Simulates the passing of time for the ledger. */
  async timePasses(ms: number): Promise<void> {
    await passTime(this.db, ms);
  }

  async sweepsAreDue(): Promise<void> {
    await this.db.query('update streams set due_at = now(), sweep_due_at = now()');
  }

  /**
   * Ends every wait of the sinks: of records that are to be retried, and of lanes. A lane that has failed keeps a
   * `retry_at`, as when time passes, because lanes that were never tried are served first.
   */
  async retriesAreDue(): Promise<void> {
    await this.db.query(`update deliveries set due_at = now() where due_at > now()`);
    await this.db.query(
      `update lanes set retry_at = case when retry_at > now() then now() else retry_at end, due_at = now(),
         lease_expires_at = now() where true`,
    );
    await this.db.query('update sinks set retry_at = now() where retry_at is not null');
  }

  async close(): Promise<void> {
    for (const close of this.#close.splice(0).toReversed()) await close();
  }
}

/** Returns a function to open stages. They are closed after each test. */
export function useStages(): { open(kind: Database['kind'], options?: SandboxOptions): Promise<Stage> } {
  const stores = useStores();
  const open: Stage[] = [];
  afterEach(async () => {
    for (const stage of open.splice(0)) await stage.close();
  });
  return {
    async open(kind, options) {
      const stage = await Stage.open(await stores.open(kind), options);
      open.push(stage);
      return stage;
    },
  };
}

/** Returns the lines of a scene's file sink about an item, in order. */
export function archived(scene: Pick<Scene, 'folder'>, list: string, key?: string | number): ArchivedChange[] {
  return archive(scene).filter((line) => line.list === list && (key === undefined || line.key === String(key)));
}

/**
 * Returns all lines of the scene's file sink, in the order of each pigeonhole's changes; none before the first write.
 */
export function archive(scene: Pick<Scene, 'folder'>): ArchivedChange[] {
  try {
    return readArchive(join(scene.folder, 'archive')).toSorted((a, b) => a.sequence - b.sequence);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function idOf(list: string, item: Item): { id?: number } {
  const inner = { questions: 'question', answers: 'answer', answer_ratings: 'answerRating' }[list];
  const id = (inner === undefined ? item : ((item[inner] ?? {}) as Item))['id'];
  return list !== 'votes' && typeof id === 'number' ? { id } : {};
}

async function answerOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answers HTTP ${response.status}: ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
