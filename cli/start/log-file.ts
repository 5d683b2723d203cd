import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

/** Beyond this the log of the sessions before is put aside when `start` begins. */
const maxBytes = 20 * 1024 * 1024;

/**
 * Returns the file that takes the log while a terminal shows the screen: beside the configuration and named like it. An
 * earlier one is continued, or renamed to end in `.1` when it is large. Only its owner can read a new one.
 * @throws {NodeJS.ErrnoException} when it cannot be written
 */
export function openLogFile(configuration: string): string {
  const name = basename(configuration, extname(configuration));
  const file = join(dirname(configuration), `${name}.log`);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxBytes) renameSync(file, `${file}.1`);
  closeSync(openSync(file, 'a', 0o600));
  return file;
}
