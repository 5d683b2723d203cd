import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { type BinarySources, programsNamed, checkServer } from './binary-sources.js';
import { buildBinary, builtBinaryPath, findGo } from './build-binary.js';
import { downloadBinary, isDownloadedBinary } from './download-binary.js';

export type { BinarySources };

/** There is no Temporal server to embed. The message says what can be done about it. */
export class BinaryNotFoundError extends Error {
  override readonly name = 'BinaryNotFoundError';
}

/**
 * The path of a Temporal server that can be embedded: the one that a person named, else `temporal` in the search
 * folders, else the cache, else downloaded, else built with Go (about eight minutes, once), both kept in the cache.
 * @param onProgress gets a line for a person whenever something takes long
 * @throws {BinaryNotFoundError} with the ways out
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
    'no Temporal server is here: set temporal.address to one that runs, or TEMPORAL_BINARY to its program ' +
      '(https://docs.temporal.io/cli), or install Go 1.26.4 or newer and start again, which builds it',
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
