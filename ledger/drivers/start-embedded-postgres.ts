import { fdatasyncSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncFolder } from './embedded-folder.js';

/**
 * PGlite's own start parameters without `-F` (which turns fsync off), plus:
 * - `wal_sync_method=fsync`: the only method that reaches `SyncedNodeFs`; the others use flags of open() that
 *   Emscripten ignores
 * - `shared_buffers=16MB`: 177 MB of memory instead of 309, without a clear loss of speed
 * - `max_wal_size`: limits the disk space of the log (1 GB by default), and the recovery after a kill to a second
 */
const startParams = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...['fsync=on', 'wal_sync_method=fsync', 'shared_buffers=16MB', 'max_wal_size=128MB'].flatMap((set) => ['-c', set]),
];

/**
 * Starts PostgreSQL on the calling thread, in a folder that this process has locked. Creates the database if the folder
 * is empty, which happens only in the build: it takes seconds and leaves the process at 700 MB.
 * @throws {Error} if a commit does not sync, because an upgrade of PGlite disabled `SyncedNodeFs`
 */
export async function startEmbeddedPostgres(folder: string, hooks: EngineHooks = {}): Promise<PGlite> {
  const files = new SyncedNodeFs(folder, hooks);
  const pglite = await PGlite.create({ fs: files, dataDir: folder, startParams });
  const before = files.syncCount;
  // A transaction that writes to the log and to no table.
  await pglite.query(`select pg_logical_emit_message(true, 'pigeonpost', 'does a commit sync?')`);
  if (files.syncCount === before) throw new Error('a commit of the embedded store did not sync its log to disk');
  return pglite;
}

interface EngineHooks {
  /** Receives PostgreSQL's log line by line. Lines may quote rows, so they must never be shown. */
  readonly onLog?: (line: string) => void;
  /** Called when the engine is dead. The thread would continue without noticing, so this hook has to end it. */
  readonly onAbort?: () => void;
}

/** The parts of Emscripten inside PGlite 0.5.16 that this file uses. PGlite's version is pinned because of this. */
interface EmscriptenModule {
  readonly FS: { readonly ErrnoError: new (errno: number) => Error };
  readonly NODEFS: {
    readonly stream_ops: { fsync?: (stream: { nfd?: number; node: object }) => number };
    realPath(node: object): string;
  };
}

type StartOptions = Parameters<NodeFS['init']>[1];

/**
 * Emscripten's number for EIO. This error makes PostgreSQL panic after a failed sync. That is the right reaction,
 * because nobody knows what was written.
 */
const ioErrno = 29;

/**
 * PGlite's file system with a real fsync. PGlite's own one never syncs, whatever PostgreSQL's settings: a commit would
 * survive a killed process but not a power failure. `syncCount` proves at the start that a commit does sync.
 */
class SyncedNodeFs extends NodeFS {
  syncCount = 0;

  constructor(
    folder: string,
    private readonly hooks: EngineHooks,
  ) {
    super(folder);
  }

  override async init(pg: PGlite, options: StartOptions): Promise<{ emscriptenOpts: StartOptions }> {
    const { emscriptenOpts } = await super.init(pg, options);
    const addFsync = (module: EmscriptenModule): void => {
      module.NODEFS.stream_ops.fsync = (stream) => {
        try {
          // PGlite does not open folders, so they have no descriptor
          if (stream.nfd === undefined) syncFolder(module.NODEFS.realPath(stream.node));
          // fdatasync writes the data and the size but not the times, which PostgreSQL does not need
          else fdatasyncSync(stream.nfd);
        } catch {
          throw new module.FS.ErrnoError(ioErrno);
        }
        this.syncCount += 1;
        return 0;
      };
    };
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [...(emscriptenOpts.preRun ?? []), addFsync] as StartOptions['preRun'],
        print: () => undefined,
        printErr: (line: string) => this.hooks.onLog?.(line),
        onAbort: () => this.hooks.onAbort?.(),
      },
    };
  }
}
