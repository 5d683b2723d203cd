import { writeFile } from 'node:fs/promises';
import { CommandError, ExitCode } from './exit-code.js';

/** Makes a file for its owner's eyes, and never writes one over. @throws {CommandError} exit 1 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EEXIST' ? 'it is there already: name another file' : `it failed with ${error.code}`;
    throw new CommandError(ExitCode.Failed, `${file} cannot be written: ${why}`);
  });
}
