import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { StoreKind } from '../bench.js';
import { type PostgresServer, startPostgresServer } from './postgres-server.js';
import { Sandbox } from './sandbox.js';

/** An empty store: a database of the stage's server, or a folder that holds an embedded store. */
export type FreshStore =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'embedded'; readonly folder: string };

/** Resources of a bench: a folder that is deleted with it, a sandbox, and stores as it needs them. */
export class Stage {
  #postgres: PostgresServer | undefined;
  #template: string | undefined;
  #places = 0;
  readonly #closers: (() => Promise<void>)[] = [];

  private constructor(
    readonly folder: string,
    readonly sandbox: Sandbox,
  ) {}

  static async open(sandboxArgs: readonly string[]): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-bench-'));
    chmodSync(folder, 0o711); // PostgreSQL's user has to reach its own folder in it
    return new Stage(folder, await Sandbox.start(folder, sandboxArgs));
  }

  /** A folder of its own for the next contender. */
  nextFolder(): string {
    this.#places += 1;
    const folder = join(this.folder, String(this.#places));
    mkdirSync(folder);
    return folder;
  }

  /** The server that every PostgreSQL store of this stage is on. */
  async postgres(): Promise<PostgresServer> {
    this.#postgres ??= await startPostgresServer(join(this.folder, 'postgres'));
    return this.#postgres;
  }

  /**
   * A store that nobody has used. An embedded one is copied from a template, since making one takes seconds that
   * belong to no figure; it lies in `data` of the given folder, where the product looks for it.
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

  /** Closes resources that a bench opens beside the product, in reverse order, when the stage ends. */
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

/** Opens a stage for `use` and takes it down behind it, also when it fails. */
export async function withStage<T>(sandboxArgs: readonly string[], use: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await Stage.open(sandboxArgs);
  try {
    return await use(stage);
  } finally {
    await stage.close();
  }
}
