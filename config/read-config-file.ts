import { codeOf } from '../base/errors.js';
import { readFile } from 'node:fs/promises';
import { ConfigError, type ConfigErrorKind } from './config-error.js';

/** Reads the text of pigeonpost.yaml. @throws {ConfigError} `missing` or `unreadable` */
export async function readConfigFile(absoluteFile: string, shownFile: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(absoluteFile);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT') {
      throw fileError(
        'missing',
        shownFile,
        'the file does not exist: write one with "pigeonpost init", or give another path with --config',
        cause,
      );
    }
    const reason =
      code === 'EISDIR'
        ? 'this is a folder; name the file in it'
        : `the file cannot be read (${code}); check the path and its permissions`;
    throw fileError('unreadable', shownFile, reason, cause);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fileError('unreadable', shownFile, 'the file is not UTF-8 text; save it as UTF-8', cause);
  }
}

/** Returns an error about the file as a whole, without a line. */
function fileError(kind: ConfigErrorKind, file: string, message: string, cause: unknown): ConfigError {
  return new ConfigError(kind, file, [{ line: 1, column: 1, key: '', message }], {
    message: `${file}: ${message}`,
    cause,
  });
}
