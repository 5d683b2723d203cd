import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { packageRoot } from '../../base/package-root.js';

/** Where a Temporal server may come from. */
export interface BinarySources {
  /** Named by a person (`TEMPORAL_BINARY`): taken, or refused with a sentence, and nothing else is tried. */
  readonly explicit: string | undefined;
  /** Folders to look for `temporal` in, in order. */
  readonly searchFolders: readonly string[];
  /** Where a downloaded or built server is kept for later starts, of all projects of this user. */
  readonly cacheFolder: string;
  /** The Go module that builds the official server (`go.mod`, `go.sum`). */
  readonly goModule: string;
  /** The vendor's, from which the SDK downloads. */
  readonly downloadHost: string;
  /** A proxy stands between us and the download, so that it may be reachable although a direct connection is not. */
  readonly hasProxy: boolean;
  /** Take what is there and make nothing. */
  readonly onlyLook?: boolean;
}

/** The sources of this user on this machine. */
export function binarySources(environment: Environment = processEnvironment()): BinarySources {
  const cache = environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return {
    explicit: environment['TEMPORAL_BINARY'] || undefined,
    searchFolders: (environment['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/')),
    cacheFolder: join(cache, 'pigeonpost'),
    goModule: join(packageRoot(), 'tools/temporal'),
    downloadHost: 'temporal.download',
    hasProxy: Boolean(environment['HTTPS_PROXY'] ?? environment['https_proxy']),
  };
}
