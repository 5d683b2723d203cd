import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { StoreKind } from '../report.js';
import { type PostgresServer, startPostgresServer } from './postgres-server.js';
import { Sandbox, type SandboxFlags } from './sandbox.js';

/** An empty store: a database of the stage's server, or a folder with an embedded store. */
export type FreshStore =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'embedded'; readonly folder: string };

/** Resources of a benchmark: a temporary folder, a sandbox, and stores on demand. */
export class Stage {
  #postgres: PostgresServer | undefined;
  #template: string | undefined;
  #places = 0;
  readonly #closers: (() => Promise<void>)[] = [];

  private constructor(
    readonly folder: string,
    readonly sandbox: Sandbox,
  ) {}

  static async open(flags: SandboxFlags): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-bench-'));
    chmodSync(folder, 0o711); // PostgreSQL's user must be able to reach its folder in it
    return new Stage(folder, await Sandbox.start(folder, flags));
  }

  /** Returns a new folder for the next contender. */
  nextFolder(): string {
    this.#places += 1;
    const folder = join(this.folder, String(this.#places));
    mkdirSync(folder);
    return folder;
  }

  /** Returns the server of all PostgreSQL stores of this stage. */
  async postgres(): Promise<PostgresServer> {
    this.#postgres ??= await startPostgresServer(join(this.folder, 'postgres'));
    return this.#postgres;
  }

  /**
   * Creates an unused store. An embedded one is copied from a template, because creating one takes seconds that no
   * figure may include. It is in `data` of the given folder, where the product expects it.
   */
  async freshStore(kind: StoreKind, folder: string): Promise<FreshStore> {
    if (kind === 'postgres') {
      const server = await this.postgres();
      return { kind, url: await server.createDatabase(`bench${this.#places}`) };
    }
    this.#template ??= await makeTemplate(join(this.folder, 'template'));
    const data = join(folder, 'data');
    cpSync(join(this.#template, 'postgres'), join(data, 'postgres'), { recursive: true });
    return { kind, folder: data };
  }

  /** Registers a resource of a benchmark to close, in reverse order, when the stage ends. */
  onClose(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close();
    await this.sandbox.stop();
    await this.#postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function makeTemplate(folder: string): Promise<string> {
  const database = await openDatabase({ kind: 'embedded', folder });
  await database.close();
  return folder;
}

/** Opens a stage for `use` and closes it afterwards, even after a failure. */
export async function withStage<T>(flags: SandboxFlags, use: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await Stage.open(flags);
  try {
    return await use(stage);
  } finally {
    await stage.close();
  }
}
