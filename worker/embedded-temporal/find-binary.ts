import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { type BinarySources, programsNamed, checkServer } from './binary-sources.js';
import { buildBinary, builtBinaryPath, findGo } from './build-binary.js';
import { downloadBinary, isDownloadedBinary } from './download-binary.js';

export type { BinarySources };

/** There is no Temporal server to embed. The message says what to do. */
export class BinaryNotFoundError extends Error {
  override readonly name = 'BinaryNotFoundError';
}

/**
 * Returns the path of a Temporal server to embed: `TEMPORAL_BINARY`, else `temporal` in the search folders, else from
 * the cache, else downloaded, else built with Go (about eight minutes, once). Both are stored in the cache.
 * @param onProgress receives a line for a person about slow steps
 * @throws {BinaryNotFoundError} with the possible remedies
 */
export async function findBinary(sources: BinarySources, onProgress: (line: string) => void): Promise<string> {
  if (sources.explicit !== undefined) {
    const check = await checkServer(sources.explicit);
    if (check.isUsable) return sources.explicit;
    throw new BinaryNotFoundError(`${sources.explicit} (TEMPORAL_BINARY) cannot be used: ${check.why}`);
  }
  for (const candidate of candidates(sources)) {
    const check = await checkServer(candidate);
    if (check.isUsable) return candidate;
    onProgress(`${candidate} cannot be used: ${check.why}`);
  }
  if (sources.onlyLook === true && (await findGo(sources)) !== undefined) return builtBinaryPath(sources); // it will be
  if (sources.onlyLook !== true) {
    const made = (await downloadBinary(sources, onProgress)) ?? (await buildBinary(sources, onProgress));
    if (made !== undefined) return made;
  }
  throw new BinaryNotFoundError(
    'no Temporal server was found: set temporal.address to a running one, or TEMPORAL_BINARY to its program ' +
      '(https://docs.temporal.io/cli), or install Go 1.26.4 or newer and start again to build one',
  );
}

function candidates(sources: BinarySources): string[] {
  const { searchFolders, cacheFolder } = sources;
  const downloaded = namesIn(cacheFolder).filter(isDownloadedBinary);
  const cached = [basename(builtBinaryPath(sources)), ...downloaded];
  return [...programsNamed('temporal', searchFolders), ...cached.flatMap((name) => programsNamed(name, [cacheFolder]))];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was cached yet
  }
}
