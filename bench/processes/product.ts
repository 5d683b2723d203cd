import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { Secret } from '../../config/secret.js';
import { binarySources, findBinary } from '../../worker/embedded-temporal/find-binary.js';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../worker/embedded-temporal/embedded-temporal.js';
import { localTokenFile } from '../../worker/instance-file.js';
import type { StoreKind } from '../report.js';
import { cpuSecondsOf, cpuSecondsOfFamily, peakRssMbOf, Program, waitUntil } from './program.js';
import { builtProgram } from '../../base/package-root.js';
import { sandboxKey } from './sandbox.js';
import type { FreshStore, Stage } from './stage.js';

interface ProductOptions {
  /** Kind of the new store. */
  readonly store: StoreKind;
  /** YAML of the sync, without its workspace. */
  readonly sync: readonly string[];
  /** Service of another workspace, and YAML of its sync. */
  readonly neighbor?: { readonly sandboxUrl: string; readonly sync: readonly string[] };
  /** YAML of the sinks, one line each. */
  readonly sinks: readonly string[];
  /** Values of the references `${NAME}` in the YAML. */
  readonly env?: Readonly<Record<string, string>>;
  readonly profileFolder?: string | undefined;
  /** Folder with another build of the product; by default this one. */
  readonly dist?: string | undefined;
  /** Name of a file in the product's folder for long statements and pauses within the process (watch-process.ts). */
  readonly watchFile?: string;
}

interface StartedProgram {
  readonly program: Program;
  readonly temporal: EmbeddedTemporal | undefined;
  readonly apiUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A line `page stored` of the product's log, written after the transaction was committed. */
interface StoredPage {
  readonly atMs: number;
  readonly list: string;
  readonly created: number;
  readonly updated: number;
}

/** Runs `pigeonpost start` as a user does, on its own new Temporal server. */
export class Product {
  /** CPU time until the product was ready, which no figure includes. */
  #cpuSecondsAtReady = 0;

  private constructor(
    /** Folder for this product only. */
    readonly folder: string,
    readonly store: FreshStore,
    private readonly started: StartedProgram,
  ) {}

  /** Starts the product on a new store and on the sandbox of the stage. It ends with the stage, or earlier by `stop`. */
  static async start(stage: Stage, options: ProductOptions): Promise<Product> {
    const folder = stage.nextFolder();
    const store = await stage.freshStore(options.store, folder);
    // With an embedded store, the product runs its own Temporal server, which keeps its data there. With PostgreSQL,
    // the benchmark starts a Temporal server for it.
    const temporal = store.kind === 'embedded' ? undefined : await startTemporal(folder);
    const storeSetting = store.kind === 'embedded' ? 'embedded:./data' : store.url;
    writeFileSync(
      join(folder, 'pigeonpost.yaml'),
      configuration(options, { sandboxUrl: stage.sandbox.baseUrl, store: storeSetting, temporal: temporal?.address }),
    );
    const program = new Program({
      program: 'cli/main',
      dist: options.dist,
      args: ['start'],
      nodeArgs: [
        ...(options.profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileFolder}`]),
        ...(options.watchFile === undefined ? [] : ['--require', builtProgram('bench/processes/watch-process')]),
      ],
      env: {
        ...defined(processEnvironment()),
        ...options.env,
        BENCH_API_KEY: sandboxKey,
        ...(options.watchFile !== undefined && { BENCH_WATCH_FILE: join(folder, options.watchFile) }),
      },
      cwd: folder,
      logFile: join(folder, 'pigeonpost.log'),
    });
    stage.onClose(async () => {
      await program.stop();
      await temporal?.stop();
    });
    const status = await program.lineLike(/^page: (\S+)\/\?code=/);
    const headers = headersFor(folder, store);
    const product = new Product(folder, store, { program, temporal, apiUrl: status[1]!, headers });
    await program.lineLike(/^ready/);
    product.#cpuSecondsAtReady = cpuSecondsOf(program.pid);
    return product;
  }

  /** Address of the Temporal server. */
  get temporalAddress(): string {
    const { temporal } = this.started;
    if (temporal === undefined) throw new Error('an embedded store brings a Temporal server of its own');
    return temporal.address;
  }

  cpuSeconds(): number {
    return cpuSecondsOf(this.started.program.pid) - this.#cpuSecondsAtReady;
  }

  /** CPU seconds of the process and its children since their start: with an embedded store, Temporal's server. */
  familyCpuSeconds(): number {
    return cpuSecondsOfFamily(this.started.program.pid);
  }

  peakRssMb(): number {
    return peakRssMbOf(this.started.program.pid);
  }

  /**
   * Waits until pages of a list that were stored after `fromMs` contain `items` new or edited items.
   * @returns these pages in the order of storage; the last one completed the number
   */
  async untilStored(
    list: string,
    { what = 'created', items = 1, fromMs = 0 }: { what?: 'created' | 'updated'; items?: number; fromMs?: number },
    timeoutMs: number,
  ): Promise<readonly StoredPage[]> {
    const pages: StoredPage[] = [];
    let looked = 0;
    let stored = 0;
    return await this.started.program.until(
      `has stored ${items} items of ${list} (${what})`,
      (lines) => {
        for (; looked < lines.length && stored < items; looked += 1) {
          const page = storedPage(lines[looked]!);
          if (page?.list !== list || page.atMs < fromMs) continue;
          pages.push(page);
          stored += page[what];
        }
        return stored >= items ? pages : undefined;
      },
      timeoutMs,
    );
  }

  /** Waits until each sink has received `changes` changes. @returns the time of the last commit, epoch ms */
  async untilDelivered(sinks: readonly string[], changes: number, timeoutMs: number): Promise<number> {
    const delivered = new Map(sinks.map((sink) => [sink, 0]));
    let looked = 0;
    let lastMs = 0;
    return await this.started.program.until(
      `has delivered ${changes} changes to ${sinks.join(' and ')}`,
      (lines) => {
        for (; looked < lines.length; looked += 1) {
          if (!lines[looked]!.includes('"changes settled"')) continue;
          const line = JSON.parse(lines[looked]!) as { time: string; sink: string; delivered: number };
          const before = delivered.get(line.sink);
          if (before === undefined) continue;
          delivered.set(line.sink, before + line.delivered);
          lastMs = Date.parse(line.time);
        }
        return [...delivered.values()].every((count) => count >= changes) ? lastMs : undefined;
      },
      timeoutMs,
    );
  }

  /** Returns the duration of one `GET /api/status` in milliseconds. */
  async statusMs(): Promise<number> {
    const begunAt = performance.now();
    await this.isSettled();
    return performance.now() - begunAt;
  }

  /** Makes every stream of the pigeonhole due immediately. */
  async pollNow(pigeonholeId: number): Promise<void> {
    const answer = await fetch(`${this.started.apiUrl}/api/actions`, {
      method: 'POST',
      headers: this.started.headers,
      body: JSON.stringify({ do: 'poll-now', kind: 'pigeonhole', name: `acme/${pigeonholeId}` }),
    });
    if (!answer.ok) throw new Error(`pigeonpost refuses to poll with HTTP ${answer.status}: ${await answer.text()}`);
  }

  /** Returns whether everything was read and every change is settled at every sink. */
  async isSettled(): Promise<boolean> {
    const answer = await fetch(`${this.started.apiUrl}/api/status`, { headers: this.started.headers });
    return ((await answer.json()) as { settled: boolean }).settled;
  }

  async untilSettled(timeoutMs: number): Promise<void> {
    await waitUntil('everything is settled', async () => ((await this.isSettled()) ? true : undefined), timeoutMs);
  }

  async stop(): Promise<void> {
    await this.started.program.stop();
    await this.started.temporal?.stop();
  }
}

/** Returns the headers of API requests. Their token exists before the product prints its address. */
function headersFor(folder: string, fresh: FreshStore): Record<string, string> {
  const store = fresh.kind === 'embedded' ? fresh : ({ kind: 'postgres', url: new Secret(fresh.url) } as const);
  const token = readFileSync(localTokenFile({ store, folder, file: join(folder, 'pigeonpost.yaml') }), 'utf8').trim();
  return { 'content-type': 'application/json', authorization: `Bearer ${token}` };
}

async function startTemporal(folder: string): Promise<EmbeddedTemporal> {
  const binary = await findBinary(binarySources(), (line) => process.stderr.write(`${line}\n`));
  return await startEmbeddedTemporal({ folder: join(folder, 'temporal'), binary });
}

function configuration(
  options: ProductOptions,
  at: { readonly sandboxUrl: string; readonly store: string; readonly temporal: string | undefined },
): string {
  const workspace = (name: string, url: string): string =>
    `  ${name}: { baseUrl: "${url}", apiKey: "\${BENCH_API_KEY}" }`;
  const sync = (name: string, of: string, lines: readonly string[]): string[] => [
    `  ${name}:`,
    ...[`workspace: ${of}`, ...lines].map((line) => `    ${line}`),
  ];
  const { neighbor } = options;
  return [
    'workspaces:',
    workspace('acme', at.sandboxUrl),
    ...(neighbor === undefined ? [] : [workspace('neighbor', neighbor.sandboxUrl)]),
    'syncs:',
    ...sync('measured', 'acme', options.sync),
    ...(neighbor === undefined ? [] : sync('neighbor', 'neighbor', neighbor.sync)),
    'sinks:',
    ...options.sinks.map((line) => `  ${line}`),
    `store: "${at.store}"`,
    ...(at.temporal === undefined ? [] : [`temporal: { address: "${at.temporal}" }`]),
    'server: { port: 0 }',
    'network: { proxy: none }',
    '',
  ].join('\n');
}

function storedPage(line: string): StoredPage | undefined {
  if (!line.includes('"page stored"')) return undefined;
  const { time, list, created, updated } = JSON.parse(line) as StoredPage & { time: string };
  return { atMs: Date.parse(time), list, created, updated };
}

function defined(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
