import { fdatasyncSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncFolder } from './sync-folder.js';

export interface EngineHooks {
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
export class SyncedNodeFs extends NodeFS {
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
