import { CommandError, ExitCode } from './exit-code.js';
import { anyListNamed } from './list-named.js';

/** The item that a person means by `list:key`; a list may be named in the singular. @throws {CommandError} */
export function itemNamed(word: string): { list: string; key: string } {
  const parts = /^([a-z_-]+):(.+)$/i.exec(word);
  if (parts === null) {
    throw new CommandError(ExitCode.WrongUse, `"${word}" is no item: write it as list:key, e.g. questions:9001`);
  }
  return { list: anyListNamed(parts[1]!), key: parts[2]! };
}
