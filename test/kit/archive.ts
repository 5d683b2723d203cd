import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A line that a file sink has written. */
export interface ArchivedChange {
  readonly id: string;
  readonly type: string;
  readonly pigeonholeId: number;
  readonly sessionId: number | null;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly sequence: number;
  /** Time at which the change was found, ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

/** Returns every line of every day file below a folder. Throws for a line that is not JSON. */
export function readArchive(folder: string): ArchivedChange[] {
  return dayFilesBelow(folder)
    .flatMap(wholeLines)
    .map((line) => JSON.parse(line) as ArchivedChange);
}

/** Returns the lines of a file that another process may be writing, without an incomplete last line. */
export function wholeLines(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** Edits the lines of day files as a colleague with an editor does. @param change returns the lines that replace a line */
export function editArchive(folder: string, change: (line: string, found: ArchivedChange) => readonly string[]): void {
  for (const file of dayFilesBelow(folder)) {
    const edited = wholeLines(file).flatMap((line) => change(line, JSON.parse(line) as ArchivedChange));
    writeFileSync(file, edited.map((line) => `${line}\n`).join(''));
  }
}

function dayFilesBelow(folder: string): string[] {
  return filesBelow(folder).filter((file) => file.endsWith('.ndjson'));
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []; // nothing was written yet
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
