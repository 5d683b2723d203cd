import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A line of a file sink, as it was written. */
export interface ArchivedChange {
  readonly id: string;
  readonly type: string;
  readonly pigeonholeId: number;
  readonly sessionId: number | null;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly sequence: number;
  /** ISO 8601: when it was found. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

/** Every line of every day file below a folder. A line that is no JSON fails the test that reads it. */
export function readArchive(folder: string): ArchivedChange[] {
  return filesBelow(folder)
    .filter((file) => file.endsWith('.ndjson'))
    .flatMap(wholeLines)
    .map((line) => JSON.parse(line) as ArchivedChange);
}

/** The lines of a file that another process may be writing at this moment: the last one counts once it has ended. */
export function wholeLines(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []; // nothing was written yet
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
