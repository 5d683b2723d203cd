import { fdatasyncSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncFolder } from './sync-folder.js';

/**
 * PGlite's own start parameters, less `-F` (which turns fsync off), plus:
 * - `wal_sync_method=fsync`: the one that reaches `SyncedNodeFs`; others are flags of open() that Emscripten drops
 * - `shared_buffers=16MB`: 177 MB of memory instead of 309, no clear loss of speed
 * - `max_wal_size`: bounds the disk that the log takes (1 GB by default) and the recovery after a kill to a second
 */
const startParams = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...['fsync=on', 'wal_sync_method=fsync', 'shared_buffers=16MB', 'max_wal_size=128MB'].flatMap((set) => ['-c', set]),
];

/**
 * Starts PostgreSQL on the calling thread, on a folder that this process has locked. Makes the database when the
 * folder is empty, which only the build does: it takes seconds and leaves the process at 700 MB.
 * @throws {Error} when a commit does not sync: an upgrade of PGlite undid `SyncedNodeFs`
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
  /** PostgreSQL's log, a line at a time. It may quote rows, so none of it may be shown. */
  readonly onLog?: (line: string) => void;
  /** The engine is dead. It would continue without noticing, so this hook has to end its thread. */
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
 * Emscripten's number of EIO. PostgreSQL panics after a failed sync, which is right, because it is not known what was
 * written.
 */
const ioErrno = 29;

/**
 * PGlite's folder on disk, with a real fsync. PGlite's own file system never syncs, whatever PostgreSQL's settings: a
 * commit would survive a killed process but not a power cut. `syncCount` lets the opener prove that a commit does sync.
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
          if (stream.nfd === undefined) syncFolder(module.NODEFS.realPath(stream.node)); // folders are never opened
          else fdatasyncSync(stream.nfd); // with the size, without the times: PostgreSQL needs no more
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
