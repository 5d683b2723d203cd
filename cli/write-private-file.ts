import { writeFile } from 'node:fs/promises';
import { CommandError, ExitCode } from './exit-code.js';

/** Creates a file that only its owner can read. Never overwrites a file. @throws {CommandError} exit 1 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EEXIST' ? 'the file already exists; choose another path' : `error ${error.code}`;
    throw new CommandError(ExitCode.Failed, `${file} cannot be written: ${why}`);
  });
}
